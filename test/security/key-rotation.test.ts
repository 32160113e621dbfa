import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { KeyRing } from '../../src/crypto/master-keys';
import { createSealer } from '../../src/crypto/sealing';
import { createLogger } from '../../src/observability/logger';
import { startApi } from '../../src/servers/api-server';
import { startWorker } from '../../src/servers/worker';
import { runLunas } from '../cli/run-lunas';
import { RETENTION_DAYS } from '../support/activity-dependencies';
import { eventually } from '../support/eventually';
import { freeListeners } from '../support/listeners';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, NO_LIMITS, startTestService, workerDefaults, type TestService } from '../support/service';
import { workflowBundlePath } from '../support/temporal';
import { registerEndpoint } from '../support/webhooks';

const REQUEST = { amount: 50_000, customer: { name: 'Siti Rahma' } };
const newMasterKey = randomBytes(32).toString('base64');

let service: TestService;
let receiver: Receiver;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-keys-'));
  // The first step of a rotation: every process can open what the new master key will seal.
  service = await startTestService(await newNamespace(), { oldMasterKeys: [newMasterKey] });
  receiver = await startReceiver();
  await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url: receiver.url,
    events: [],
  });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
  await rm(home, { recursive: true });
});

const environment = (keys: NodeJS.ProcessEnv) => ({
  DATABASE_URL: service.operatorDatabaseUrl,
  LUNAS_HOME: home,
  ...keys,
});

/** A further API process with these keys. */
async function withApi<Result>(
  keys: { masterKey: string; oldMasterKeys?: readonly string[] },
  work: (call: (method: string, target: string, body?: object, key?: string) => Promise<Response>) => Promise<Result>,
): Promise<Result> {
  const { listeners, apiUrl } = await freeListeners();
  const { databaseUrl, temporal, secretKey } = service;
  const log = createLogger('test', 'silent');
  const settings = { ...listeners, databaseUrl, temporal, ...NO_LIMITS, log, ...keys };
  const api = await startApi({ ...settings, environment: 'sandbox', publicBaseUrl: service.apiUrl });
  try {
    return await work((method, target, body, idempotencyKey) =>
      fetch(`${apiUrl}${target}`, {
        method,
        headers: {
          authorization: `Bearer ${secretKey}`,
          'content-type': 'application/json',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  } finally {
    await api.close();
  }
}

const createdSchema = z.object({ payment: z.object({ id: z.uuid() }) });

/** A worker with the new master key alone. */
function startNewWorker(): Promise<{ close(): Promise<void> }> {
  return startWorker({
    databaseUrl: service.databaseUrl,
    temporal: service.temporal,
    masterKey: newMasterKey,
    environment: 'sandbox',
    publicBaseUrl: service.apiUrl,
    ...workerDefaults(100),
    refundHoldSeconds: 60,
    retentionDays: RETENTION_DAYS,
    workflowBundlePath: workflowBundlePath(),
    log: createLogger('test', 'silent'),
    onFailure: (error) => {
      throw error;
    },
  });
}

it('reseals everything under load without an error; then the new master key is enough', async () => {
  const first = await service.call('POST', '/payments', REQUEST, { 'idempotency-key': 'before' });
  expect(first.status).toBe(201);
  const imagePath = new URL(first.body.payment.qris_image_url).pathname;

  // The second step: the new master key seals. The processes of the first step still run.
  const both = { masterKey: newMasterKey, oldMasterKeys: [service.masterKey] };
  await withApi(both, async (call) => {
    const stop = new AbortController();
    const statuses: number[] = [];
    const load = Array.from({ length: 4 }, async () => {
      while (!stop.signal.aborted) statuses.push((await call('POST', '/payments', REQUEST)).status);
    });
    const keys = { LUNAS_MASTER_KEY: newMasterKey, LUNAS_OLD_MASTER_KEYS: service.masterKey };
    const { exitCode, stdout } = await runLunas(['keys', 'reseal', '--note', 'test', '--json'], environment(keys));
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).tables).toContainEqual({ table: 'payment_details', resealed: 1 });
    await eventually(
      async () => statuses.length,
      (count) => count >= 8,
    );
    stop.abort();
    await Promise.all(load);
    expect(new Set(statuses)).toEqual(new Set([201]));

    const replay = await call('POST', '/payments', REQUEST, 'before');
    expect([replay.status, await replay.text()]).toEqual([201, first.text]);
    expect((await call('POST', '/payments', { amount: 1 }, 'before')).status).toBe(400);
  });

  const { rows } = await service.db.query("select count(*) from webhook_deliveries where status = 'dead'");
  expect(rows).toEqual([{ count: 0 }]);
  await service.stopWorker();
  await withApi({ masterKey: newMasterKey }, async (call) => {
    const replay = await call('POST', '/payments', REQUEST, 'before');
    expect([replay.status, await replay.text()]).toEqual([201, first.text]);
    expect((await call('POST', '/payments', { amount: 1 }, 'before')).status).toBe(400);
    expect((await call('GET', imagePath)).status).toBe(200);

    const worker = await startNewWorker();
    const created = await call('POST', '/payments', REQUEST);
    expect(created.status).toBe(201);
    const { payment } = createdSchema.parse(await created.json());
    await eventually(
      async () => receiver.received.some(({ rawBody }) => rawBody.includes(payment.id)),
      (isReceived) => isReceived,
    );
    await worker.close();
  });
  const shown = await runLunas(
    ['customers', 'show', first.body.payment.id, '--json'],
    environment({ LUNAS_MASTER_KEY: newMasterKey }),
  );
  expect(JSON.parse(shown.stdout)).toMatchObject({ customer: REQUEST.customer });
  const { rows: audited } = await service.db.query(
    "select note, outcome from operator_actions join operator_action_outcomes on action_id = id where action like 'm%'",
  );
  expect(audited).toEqual([{ note: 'test', outcome: 'succeeded' }]);
});

describe('a wrong master key', () => {
  const wrong = randomBytes(32).toString('base64');
  const [rightId, wrongId] = [newMasterKey, wrong].map((key) => new KeyRing(key).current.id);
  const names = new RegExp(
    `^error: The database .* master key ${rightId}, but LUNAS_MASTER_KEY is key ${wrongId}\\..*\n$`,
  );

  it.each([
    [['accounts', 'add', '--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'LUNAS_MASTER_KEY']],
    [['keys', 'reseal']],
  ])('stops lunas %j with one line that names both keys, and seals nothing', async (args) => {
    const { exitCode, stderr } = await runLunas(args, environment({ LUNAS_MASTER_KEY: wrong }));
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(names) });
  });

  it('reads the keys from files', async () => {
    const [current, old] = [path.join(home, 'current'), path.join(home, 'old')];
    await writeFile(current, `${wrong}\n`);
    await writeFile(old, `${newMasterKey}\n`);
    const files = { LUNAS_MASTER_KEY_FILE: current, LUNAS_OLD_MASTER_KEYS_FILE: old };
    const add = ['accounts', 'add', '--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'SERVER_KEY'];
    const added = await runLunas(add, { ...environment(files), SERVER_KEY: 'k' });
    expect(added).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
