import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '../support/eventually';
import { LUNAS, runBuiltLunas } from '../support/lunas-process';
import { insertCatalog } from '../support/seed-payments';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../support/service';

/** Commands that run until they are stopped, or for hours. */

/** More than two pages: after each the recovery notes from where it goes on. */
const OPEN_PAYMENTS = 1_700;

let service: TestService;
let environment: NodeJS.ProcessEnv;
let home: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-long-'));
  environment = {
    LUNAS_HOME: home,
    ...operatorEnvironment(service),
  };
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true });
});

function start(...args: readonly string[]): { readonly child: ChildProcess; readonly output: { text: string } } {
  const child = spawn(process.execPath, [LUNAS, ...args], { env: { PATH: process.env.PATH, ...environment } });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output.text += String(chunk)));
  return { child, output };
}

it('attention --watch prints the list again when it changes, and ends by SIGINT without a word', async () => {
  const { child, output } = start('attention', '--watch');
  const lists = () => Promise.resolve([...output.text.matchAll(/^\d{4}-\d\d-\d\dT\S+Z$/gm)].length);
  expect(await eventually(lists, (count) => count === 1)).toBe(1);
  await runBuiltLunas(['merchants', 'create', '--name', 'Toko Baru'], environment);
  await eventually(lists, (count) => count > 1);
  expect(output.text).toMatch(/ merchant pending +lunas merchants approve [\da-f-]{36} --note "…" +Toko Baru/);
  const before = output.text;
  child.kill('SIGINT');
  await once(child, 'close');
  expect(output.text).toBe(before);
});

it('a recovery that is killed at half goes on from there, and the second run does the rest', async () => {
  // Nothing changes the payments, whose workflows Temporal has lost.
  await service.stopWorker();
  const [policyId, accountId] = await insertCatalog(service.db);
  await service.db.query(
    `insert into payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
       amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
       settlement_delay_seconds, status, version, expires_at, created_at, updated_at, qris_payload)
     select id, 'LN' || upper(substr(replace(id::text, '-', ''), 1, 16)), $1, 'f', 'qris', 'gopay', $2,
       50000, 350, 50000, 49650, 'merchant', $3, 'automatic', 86400, 'pending', 2, now() + interval '1 day', now(),
       now(), repeat('0', 200)
     from (select gen_random_uuid() as id from generate_series(1, $4)) fresh`,
    [service.merchantId, accountId, policyId, OPEN_PAYMENTS],
  );
  const { child } = start('recover', '--note', 'x');
  const readCursor = async () => (await service.db.query('select done_count from recovery_cursor')).rows[0]?.done_count;
  await eventually(readCursor, (done) => done !== undefined);
  child.kill('SIGKILL');
  await once(child, 'close');
  const doneBefore = await readCursor();
  expect(doneBefore).toBeGreaterThanOrEqual(500);
  expect(doneBefore).toBeLessThan(OPEN_PAYMENTS);

  const { child: second, output } = start('recover', '--note', 'x');
  const [exitCode] = await once(second, 'close');
  expect(output.text).toContain(`goes on after ${Number(doneBefore).toLocaleString('en')} payments\n`);
  expect(exitCode).toBe(0);
  expect(await readCursor()).toBeUndefined();
  // What the second run did not look at, the first one had started.
  const [, rebuilt = '', running = ''] = /^payments +(\d+) +\d+ +(\d+)$/m.exec(output.text) ?? [];
  expect(Number(rebuilt) + Number(running)).toBe(OPEN_PAYMENTS - Number(doneBefore));
  const { count } = await service.client.workflow.count("WorkflowType = 'payment' and ExecutionStatus = 'Running'");
  expect(count).toBe(OPEN_PAYMENTS);
  await service.startWorker();
});
