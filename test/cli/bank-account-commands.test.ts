import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSealer } from '../../src/crypto/sealing';
import { seedPayouts } from '../../src/services/sandbox/seed-payouts';
import { eventually } from '../support/eventually';
import { runBuiltLunas } from '../support/lunas-process';
import { createShop } from '../support/people';
import { newNamespace, startTestService, type TestService } from '../support/service';

const OTHER_NAME = '9900000060';

let service: TestService;
let home: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-bank-accounts-'));
  environment = {
    PATH: process.env.PATH,
    LUNAS_HOME: home,
    DATABASE_URL: service.operatorDatabaseUrl,
    TEMPORAL_ADDRESS: service.temporal.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    LUNAS_MASTER_KEY: service.masterKey,
    NUMBER: OTHER_NAME,
  };
  const sealer = createSealer(service.masterKey);
  await seedPayouts({ db: service.db, sealer, sandboxUrl: service.sandboxUrl, apiUrl: service.apiUrl });
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true });
});

const lunas = (...args: readonly string[]) => runBuiltLunas(['bank-accounts', ...args], environment);

async function json(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await lunas(...args, '--json');
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

it('an operator adds, approves, suspends, verifies, reactivates and disables an account', async () => {
  const { id: merchant } = await createShop(service.db);
  const { account_id: id } = await json('add', '--merchant', merchant, '--bank', '014', '--number-env', 'NUMBER');
  await eventually(
    () => json('list', '--merchant', merchant),
    ({ bank_accounts: accounts }) => accounts[0]?.status === 'pending_approval',
  );
  const shown = await lunas('show', id);
  expect(shown.stdout).toMatch(/Merchant +Toko Baru/);
  expect(shown.stdout).toMatch(/Name at the bank +PT NAMA LAIN/);
  expect(shown.stdout).toMatch(/Names are +different/);
  expect(await lunas('approve', id)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('repeat it exactly'),
  });
  expect(await json('approve', id, '--confirm-name', 'PT NAMA LAIN')).toMatchObject({ status: 'active' });
  expect(await json('suspend', id, '--note', 'a payout failed')).toMatchObject({ status: 'suspended' });
  expect(await json('verify', id)).toMatchObject({
    bank_account: { status: 'suspended', holder_name: 'PT NAMA LAIN' },
  });
  expect(await json('reactivate', id)).toMatchObject({ status: 'active' });
  expect(await json('disable', id)).toMatchObject({ status: 'disabled' });
  expect(await lunas('reject', id, '--note', 'x')).toMatchObject({ exitCode: 1 });
  const { rows } = await service.db.query<{ action: string }>('select action from operator_actions order by id');
  expect(rows.map(({ action }) => action.replace('bank_account.', ''))).toEqual([
    'add',
    'show',
    'approve',
    'suspend',
    'verify',
    'reactivate',
    'disable',
    'reject',
  ]);
  const found = await service.db.query('select from operator_actions row where row::text like $1', [`%${OTHER_NAME}%`]);
  expect(found.rowCount).toBe(0);
  expect(JSON.stringify(await json('show', id))).not.toContain(OTHER_NAME);
});

it('a proposal is rejected with a reason for the merchant', async () => {
  const { id: merchant } = await createShop(service.db);
  const { account_id: id } = await json('add', '--merchant', merchant, '--bank', '008', '--number-env', 'NUMBER');
  expect(await json('reject', id, '--note', 'the account is of another company')).toMatchObject({ status: 'rejected' });
  expect(await json('show', id)).toMatchObject({
    bank_account: { failure_reason: 'the account is of another company' },
  });
});

it('a missing variable and an unknown account are reported', async () => {
  const { id: merchant } = await createShop(service.db);
  expect(await lunas('add', '--merchant', merchant, '--bank', '014', '--number-env', 'ABSENT')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('ABSENT'),
  });
  expect(await lunas('show', merchant)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no bank account'),
  });
});
