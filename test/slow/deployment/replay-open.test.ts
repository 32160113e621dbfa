import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLogger } from '../../../src/observability/logger';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { replayOpenWorkflows, sampleOpenWorkflows } from '../../../src/worker/replay-open';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { payloadKeysOf } from '../../support/payload-keys';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../../support/service';
import { workflowBundlePath } from '../../support/temporal';

let service: TestService;
let directory: string;
let oldest: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-replay-'));
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 3_600 });
  const { body } = await service.call('POST', '/payments', { amount: 20_000 });
  oldest = body.payment.reference_id;
  for (let count = 0; count < 2; count += 1) await service.call('POST', '/payments', { amount: 20_000 });
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

const replay = (bundle: string) =>
  replayOpenWorkflows({
    client: service.client,
    keys: payloadKeysOf(service.masterKey),
    workflowBundlePath: bundle,
    maxPerType: 2,
    log: createLogger('test', 'silent'),
  });

it('replays the open workflows of each type, as many as are asked for', async () => {
  expect(await replay(workflowBundlePath())).toEqual({ replayed: 2, failures: [] });
});

it('fails on a change of the workflow code, and names the workflows', async () => {
  const changed = path.join(directory, 'changed.js');
  const bundle = await readFile(workflowBundlePath(), 'utf8');
  await writeFile(changed, bundle.replaceAll('openPayment', 'openAnotherPayment'));
  const { replayed, failures } = await replay(changed);
  expect(replayed).toBe(2);
  expect(failures).toHaveLength(2);
  for (const { workflowId, reason } of failures) {
    expect(workflowId).toMatch(/^payment-/);
    expect(reason).toMatch(/[Nn]ondeterminis/);
  }
});

it('lunas replay prints how many were replayed', async () => {
  const { exitCode, stdout, stderr } = await runBuiltLunas(['replay', '--open', '10'], {
    ...operatorEnvironment(service),
  });
  expect([stderr, stdout, exitCode]).toEqual(['', '3 open workflows replayed, 0 failed\n', 0]);
});

it('takes workflows of each status, not only the newest', async () => {
  await service.pay(oldest);
  const statuses = async () => {
    const found = new Set<unknown>();
    for await (const { searchAttributes } of sampleOpenWorkflows(service.client, 'payment', 2)) {
      found.add(searchAttributes.PaymentStatus?.[0]);
    }
    return found;
  };
  const seen = await eventually(statuses, (found) => found.has('paid'));
  expect(seen).toEqual(new Set(['paid', 'pending']));
});
