import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSealer } from '../../../src/crypto/sealing';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { startApiProcess, startWorkerProcess, type ApiProcess, type BuiltProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { startReceiver, type Receiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

/** Two API and two worker processes. Of each, the first is killed while payments are created and paid. */
const BEFORE = 8;
const DURING = 16;

const createdSchema = z.object({ payment: z.object({ id: z.string(), reference_id: z.string() }) });
type Created = z.infer<typeof createdSchema>['payment'];

let service: TestService;
let receiver: Receiver;
let endpointId: string;
let killed: { readonly api: ApiProcess; readonly worker: BuiltProcess };
let left: { readonly api: ApiProcess; readonly worker: BuiltProcess };

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  await service.stopWorker();
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 1 });
  receiver = await startReceiver();
  const { merchantId } = service;
  const endpoint = { merchantId, url: receiver.url, events: [] } as const;
  ({ id: endpointId } = await registerEndpoint(service.db, createSealer(service.masterKey), endpoint));
  const api = await startApiProcess(service);
  // The sandbox notifies the API process that is not killed.
  const settings = { PUBLIC_BASE_URL: api.url, REFUND_HOLD_SECONDS: '0' };
  left = { api, worker: await startWorkerProcess(service, settings) };
  killed = { api: await startApiProcess(service, settings), worker: await startWorkerProcess(service, settings) };
});

afterAll(async () => {
  await Promise.all([left, killed].flatMap(({ api, worker }) => [api.stop(), worker.stop()]));
  await receiver.close();
  await service.close();
});

const post = (url: string, body?: unknown, key?: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.secretKey}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** As a merchant does: the same request again, at the other process, until it is completed. */
async function create(first: ApiProcess): Promise<Created> {
  const key = randomUUID();
  const urls = [first.url, left.api.url];
  const response = await eventually(
    () =>
      post(`${urls.shift() ?? left.api.url}/payments`, { amount: 50_000, provider: 'gopay' }, key).catch(() => null),
    (attempt) => attempt?.status === 201,
  );
  return createdSchema.parse(await response?.json()).payment;
}

const createMany = (count: number): Promise<Created>[] =>
  Array.from({ length: count }, (_, index) => create(index % 2 === 0 ? killed.api : left.api));

async function lunas(...args: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runBuiltLunas([...args, '--json'], {
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: service.temporal.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    LUNAS_MASTER_KEY: service.masterKey,
    LUNAS_HOME: '/nonexistent',
    LUNAS_ENVIRONMENT: 'sandbox',
  });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return JSON.parse(String(stdout));
}

async function untilLast(payments: readonly Created[], transition: string): Promise<void> {
  for (const { id } of payments) {
    await eventually(
      () => service.transitionsOf(id),
      (transitions) => transitions.at(-1) === transition,
    );
  }
}

it('every payment completes once, although an API and a worker process are killed', async () => {
  const before = await Promise.all(createMany(BEFORE));
  const [cancelled, ...toSettle] = before;
  if (!cancelled) throw new Error('No payment was created');
  await Promise.all(toSettle.map(({ reference_id }) => service.pay(reference_id)));

  const creating = createMany(DURING);
  await Promise.race(creating);
  killed.api.signal('SIGKILL');
  killed.worker.signal('SIGKILL');
  const during = await Promise.all(creating);
  await Promise.all(during.map(({ reference_id }) => service.pay(reference_id)));
  await untilLast([...toSettle, ...during], 'settle');

  expect((await post(`${left.api.url}/payments/${cancelled.id}/cancel`)).status).toBe(200);
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 900 });
  const held = await create(left.api);
  await service.pay(held.reference_id);
  await untilLast([held], 'pay');
  expect((await post(`${left.api.url}/payments/${held.id}/refund`)).status).toBe(200);
  await untilLast([held], 'confirm_refund');

  const orders = await service.providerLedger();
  expect(orders.size).toBe(BEFORE + DURING + 1);
  expect([...orders.values()].filter(({ charge_calls }) => charge_calls !== 1)).toEqual([]);
  for (const payment of [...toSettle, ...during]) {
    expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'pay', 'settle']);
  }
});

it('each event reaches the merchant, and provider, PostgreSQL and workflows agree', async () => {
  const count = 'select count(*)::int from webhook_deliveries where endpoint_id = $1';
  const { rows } = await service.db.query<{ count: number }>(count, [endpointId]);
  const received = () => new Set(receiver.received.map(({ headers }) => headers['x-service-delivery']));
  await eventually(
    async () => received().size,
    (deliveries) => deliveries === rows[0]?.count,
  );
  expect(await lunas('ledger', 'verify')).toMatchObject({ ledger: { break_count: 0 } });
  expect(await lunas('recover')).toMatchObject({ recovery: { payments: { rebuilt: 0 }, failures: [] } });
  expect(await lunas('reconcile')).toMatchObject({ reconciliation: { indeterminate: 0, breaks: [] } });
});
