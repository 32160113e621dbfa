import { randomUUID } from 'node:crypto';
import { Lunas, NotFoundError, PaymentCancelFailedError, type Transaction } from '../../../packages/node/src/index';
import { eventually } from '../../support/eventually';
import { FAULT_NAMES, startFaultProxy, type NetworkFault } from '../../support/fault-proxy';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

/** Each of the eleven kinds of fault nine times, or ninety times. */
const CREATES = bySize({ small: 99, full: 990 });
const CONCURRENCY = 32;
/** The first attempts of each creation that meet a fault. */
const MAX_FAULTS = 2;

let service: TestService;
let lunas: Lunas;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  lunas = new Lunas({ apiKey: service.secretKey, baseUrl: service.apiUrl });
});
afterAll(() => service.close());

async function countPayments(): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>('select count(*)::int as count from payments');
  return rows[0]?.count ?? 0;
}

/** Fault `n` of the creation `index`: each creation begins elsewhere in the list, and has 0 to 2 faults. */
function faultPlan(): (idempotencyKey: string) => NetworkFault | undefined {
  const attempts = new Map<string, number>();
  return (key) => {
    const index = Number(key.split(':')[1]);
    const attempt = attempts.get(key) ?? 0;
    attempts.set(key, attempt + 1);
    return attempt < index % (MAX_FAULTS + 1) ? FAULT_NAMES[(index + attempt * 4) % FAULT_NAMES.length] : undefined;
  };
}

it(`${CREATES} creations through every kind of network fault end in exactly as many payments`, async () => {
  const proxy = await startFaultProxy(service.apiUrl, faultPlan());
  // A slow machine may cause timeouts of its own, so there are more retries than faults.
  const client = new Lunas({ apiKey: service.secretKey, baseUrl: proxy.url, timeoutMs: 3_000, maxRetries: 20 });
  const run = randomUUID();
  const before = await countPayments();
  const ids: string[] = [];
  let next = 0;
  const createAll = async () => {
    for (let index = next++; index < CREATES; index = next++) {
      const body = { amount: 50_000, merchant_reference_id: `ORDER-${index}` };
      const payment = await client.payments.create(body, { idempotencyKey: `${run}:${index}` });
      expect(payment).toMatchObject({ ...body, status: 'pending' });
      ids.push(payment.id);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, createAll));
  } finally {
    await proxy.close();
  }
  expect(new Set(ids).size).toBe(CREATES);
  expect((await countPayments()) - before).toBe(CREATES);
  const orders = (await service.providerLedger()).size;
  expect(orders).toBe(await countPayments());
  for (const name of FAULT_NAMES) expect(proxy.counts.get(name)).toBeGreaterThan(CREATES / 20);
});

async function createPaid(): Promise<{ readonly id: string }> {
  const { id, reference_id } = await lunas.payments.create({ amount: 75_000 });
  await service.pay(reference_id);
  await eventually(
    () => lunas.payments.get(id),
    ({ status }) => status === 'paid',
  );
  return { id };
}

/** The second request, the action after the reading, is executed, and its response is lost. */
async function withLostAction<Result>(act: (client: Lunas) => Promise<Result>): Promise<Result> {
  let requests = 0;
  const proxy = await startFaultProxy(service.apiUrl, () =>
    ++requests === 2 ? 'a reset instead of the response' : undefined,
  );
  try {
    return await act(new Lunas({ apiKey: service.secretKey, baseUrl: proxy.url }));
  } finally {
    await proxy.close();
  }
}

describe('the client and the service', () => {
  it('create, read, cancel', async () => {
    const created = await lunas.payments.create({ amount: 75_000, metadata: { table: 4 } });
    expect(await lunas.payments.get(created.reference_id)).toMatchObject({ id: created.id, status: 'pending' });
    expect(await lunas.payments.qris(created.id)).toMatchObject({
      payload: created.qris_payload,
      image_url: created.qris_image_url,
    });
    const cancelled = await lunas.payments.cancel(created.id);
    expect(cancelled.status).toBe('cancelled');
    expect(Date.parse(cancelled.cancelled_at ?? '')).not.toBeNaN();
    await expect(lunas.payments.cancel(created.id)).rejects.toThrow(PaymentCancelFailedError);
  });

  it('refund', async () => {
    const { id } = await createPaid();
    expect(await lunas.payments.refund(id)).toMatchObject({ id, status: 'refund_processing' });
  });

  it('cancel through a lost response, with the time at which the payment was cancelled', async () => {
    const { id } = await lunas.payments.create({ amount: 75_000 });
    const cancelled = await withLostAction((client) => client.payments.cancel(id));
    const { rows } = await service.db.query<{ at: Date }>('select cancelled_at as at from payments where id = $1', [
      id,
    ]);
    expect(cancelled).toMatchObject({ id, status: 'cancelled', cancelled_at: rows[0]?.at.toISOString() });
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'cancel']);
  });

  it('refund, and cancel the refund, each through a lost response', async () => {
    const { id } = await createPaid();
    const refunded = await withLostAction((client) => client.payments.refund(id));
    expect(refunded).toMatchObject({ id, status: 'refund_processing' });
    const cancelled = await withLostAction((client) => client.payments.cancel(id));
    expect(cancelled).toMatchObject({ id, status: 'paid', cancelled_at: null });
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay', 'request_refund', 'cancel_refund']);
  });

  it('create a bulk once, and list it over several pages', async () => {
    const tag = `BULK-${randomUUID()}`;
    const items = Array.from({ length: 7 }, (_item, index) => ({ amount: 1_000 + index, merchant_reference_id: tag }));
    const idempotencyKey = randomUUID();
    const created = await lunas.payments.createBulk(items, { idempotencyKey, provider: 'shopeepay' });
    expect(created.map(({ amount }) => amount)).toEqual(items.map(({ amount }) => amount));
    expect(await lunas.payments.createBulk(items, { idempotencyKey, provider: 'shopeepay' })).toEqual(created);
    const listed: Transaction[] = [];
    const pages = lunas.transactions.list({ merchant_reference_id: tag, provider: 'shopeepay', limit: 3 });
    for await (const transaction of pages) listed.push(transaction);
    expect(listed.map(({ id }) => id).toSorted()).toEqual(created.map(({ id }) => id).toSorted());
  });

  it('reject another id', async () => {
    await expect(lunas.payments.get(randomUUID())).rejects.toThrow(NotFoundError);
  });
});
