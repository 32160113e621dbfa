import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSealer } from '../../src/crypto/sealing';
import { seedPayouts } from '../../src/services/sandbox/seed-payouts';
import { eventually } from '../support/eventually';
import { addLines, preparePayouts } from '../support/payouts';
import { createShop } from '../support/people';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../support/service';
import { runLunas } from './run-lunas';

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
    ...operatorEnvironment(service),
    NUMBER: OTHER_NAME,
  };
  const sealer = createSealer(service.masterKey);
  await seedPayouts({ db: service.db, sealer, sandboxUrl: service.sandboxUrl, apiUrl: service.apiUrl });
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true });
});

const lunas = (...args: readonly string[]) => runLunas(['bank-accounts', ...args], environment);
const lunasPayouts = (...args: readonly string[]) => runLunas(['payouts', ...args], environment);

const json = (...args: readonly string[]) => jsonOf(lunas(...args, '--json'));
const payoutsJson = (...args: readonly string[]) => jsonOf(lunasPayouts(...args, '--json'));

async function jsonOf(run: ReturnType<typeof runLunas>) {
  const { exitCode, stdout, stderr } = await run;
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
    stderr: expect.stringMatching(/repeat it exactly.*lunas bank-accounts show .* --confirm-name/s),
  });
  expect(await json('approve', id, '--confirm-name', 'PT NAMA LAIN')).toMatchObject({ status: 'active' });
  expect(await json('suspend', id, '--note', 'a payout failed')).toMatchObject({ status: 'suspended' });
  expect(await json('verify', id)).toMatchObject({
    bank_account: { status: 'suspended', holder_name: 'PT NAMA LAIN' },
  });
  await payoutsJson('set-limit', '--cooldown', '1d');
  const reactivated = await lunas('reactivate', id);
  expect(reactivated.stdout).toMatch(/^The account is active, and receives payouts from 20\d\d-\S+Z\.\n$/);
  expect(await lunasPayouts('create', '--merchant', merchant, '--key', 'k1')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: Not now: the bank account is new\. Payouts can go to it from 20\S+Z\.\n$/),
  });
  expect(await json('disable', id)).toMatchObject({ status: 'disabled' });
  expect(await lunas('reject', id, '--note', 'x')).toMatchObject({ exitCode: 1 });
  const { rows } = await service.db.query<{ action: string }>('select action from operator_actions order by id');
  expect(rows.map(({ action }) => action.replace('bank_account.', ''))).toEqual([
    'add',
    'show',
    'approve',
    'suspend',
    'verify',
    'payout.set_limits',
    'reactivate',
    'payout.create',
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

it('an operator creates, approves and resolves a payout, and sees what it waits for', async () => {
  expect(await payoutsJson('set-limit', '90000000', '--cooldown', '0s', '--not-found', '0s')).toEqual({
    limits: { day_limit_rupiah: 90_000_000, cooldown_seconds: 0, not_found_seconds: 0 },
  });
  const { id: merchant } = await createShop(service.db);
  const create = ['create', '--merchant', merchant, '--key', 'k1'] as const;
  expect((await lunasPayouts(...create)).stderr).toMatch(/^error: Not now: [^\n]* its bank account\.\n$/);
  await addLines(await preparePayouts(service, merchant), [252_500]);

  const { payout } = await payoutsJson(...create);
  expect(payout).toMatchObject({ status: 'requested', gross_rupiah: 252_500, amount_rupiah: 250_000 });
  expect((await payoutsJson(...create)).payout).toEqual(payout);
  const { payouts } = await payoutsJson('list', '--needs-attention', '--merchant', merchant);
  expect(payouts).toMatchObject([{ reference_id: payout.reference_id, attention_reason: 'waiting_for_approval' }]);
  const waiting = await lunasPayouts('show', payout.reference_id);
  const line = `${payout.reference_id} (requested) waits for an operator to approve it (lunas payouts approve) (until`;
  expect(waiting.stdout.startsWith(line)).toBe(true);
  expect(waiting.stdout).toMatch(/Pays\n.*\n +settlement +1 +Rp 252.500/);

  const note = ['--note', 'ticket 7'] as const;
  expect(await lunasPayouts('resend', payout.id, ...note)).toMatchObject({
    exitCode: 1,
    stderr: 'error: A payout that is "requested" cannot be sent again.\n',
  });
  // The workflow may have sent it already.
  const approved = { approved_by: expect.stringMatching(/^cli:/), approval_kind: 'operator' };
  expect((await payoutsJson('approve', payout.id, ...note)).payout).toMatchObject(approved);
  const paid = await eventually(
    () => payoutsJson('show', payout.id),
    (shown) => shown.payout.status === 'completed',
  );
  expect(paid.steps.map(({ name }: { name: string }) => name)).toEqual(['request', 'approve', 'submit', 'complete']);
  const evidence = ['--evidence', 'bank statement 31 January, line 12'] as const;
  expect(await payoutsJson('resolve', payout.id, '--as', 'returned', ...evidence)).toMatchObject({
    payout: { status: 'returned', is_manual: true },
  });
  const returned = async () => {
    const { stdout } = await runLunas(['attention', '--json'], environment);
    return JSON.parse(stdout).cases.filter(({ kind }: { kind: string }) => kind === 'payout_returned');
  };
  expect(await returned()).toMatchObject([
    { subject: payout.reference_id, next: `lunas payouts show ${payout.reference_id}` },
  ]);
  await json('suspend', payouts[0].bank_account_id, ...note);
  expect(await returned()).toEqual([]);
  const { stdout } = await lunasPayouts('show', payout.id);
  expect(stdout).toMatch(/^LP\w+ \(returned\) waits for nothing since [^\n]*, because its money came back\.\n/);
  expect(stdout).toMatch(/resolve_as_returned +completed +returned +cli:\S+ +bank statement 31 January, line 12/);
});

it('an operator cancels a payout, stops payouts and starts them, and sets rails and holidays', async () => {
  const { id: merchant } = await createShop(service.db);
  await addLines(await preparePayouts(service, merchant), [100_000]);
  const note = ['--note', 'ticket 7'] as const;
  expect(await payoutsJson('stop', ...note)).toEqual({ is_stopped: true });
  expect((await lunasPayouts('policies', 'list')).stdout).toMatch(/Payouts are stopped since [^\n]*: ticket 7/);
  expect((await lunasPayouts('create', '--merchant', merchant)).stderr).toContain('(lunas payouts start)');
  expect(await payoutsJson('start', ...note)).toEqual({ is_stopped: false });

  const { payout } = await payoutsJson('create', '--merchant', merchant);
  expect(await payoutsJson('cancel', payout.reference_id, ...note)).toMatchObject({ payout: { status: 'cancelled' } });

  expect(await payoutsJson('policies', 'set', '--rail', 'rtgs', '--closes', '15:00', '--use', 'no')).toMatchObject({
    policy: { rail: 'rtgs', version: 2, closes_at: '15:00:00', is_enabled: false, max_rupiah: null },
  });
  expect((await lunasPayouts('policies', 'set', '--rail', 'rtgs', '--max', '1')).stderr).toContain('below the least');
  await payoutsJson('holidays', 'add', '2999-12-31', '2999-12-30');
  expect(await payoutsJson('holidays', 'list')).toEqual({ days: ['2999-12-30', '2999-12-31'] });
  expect(await lunasPayouts('show', 'LP0')).toMatchObject({
    exitCode: 1,
    stderr: 'error: There is no payout LP0; lunas payouts list shows them.\n',
  });
});
