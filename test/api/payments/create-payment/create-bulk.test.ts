import { randomUUID } from 'node:crypto';
import { SLOW_MS } from '../../../../src/sandbox/faults';
import { eventually } from '../../../support/eventually';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../../../support/service';

/** `MAX_CREATES_IN_FLIGHT`: a merchant alone has a third of them. */
const DEFAULT_SLOTS = 96;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { maxCreatesInFlight: DEFAULT_SLOTS });
});
afterAll(() => service.close());

const items = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({
    amount: 10_000 + index,
    merchant_reference_id: `${prefix}-${index}`,
    idempotency_key: `${prefix}-${index}`,
  }));

async function countPayments(): Promise<number> {
  const { rows } = await service.db.query('select count(*) as count from payments');
  return rows[0].count;
}

/** How many items of a response have the status. A busy machine may need more than the 10 s of a request: then none. */
const countIn = ({ body }: ApiResponse, status: string): number =>
  (body.payments ?? []).filter((item: { status: string }) => item.status === status).length;

/** Repeats the request. */
function untilAllArePending(request: { readonly payments: readonly object[] }): Promise<ApiResponse> {
  return eventually(
    () => service.call('POST', '/payments', request),
    (response) => countIn(response, 'pending') === request.payments.length,
  );
}

describe('POST /payments with payments[]', () => {
  it('201: creates fifty, in the order of the request, with exactly the fields of the contract', async () => {
    const { status, body } = await untilAllArePending({ payments: items(50, 'fifty') });
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(['payments']);
    expect(body.payments.map((item: { amount: number }) => item.amount)).toEqual(
      items(50, '').map(({ amount }) => amount),
    );
    expect(Object.keys(body.payments[0])).toEqual([
      'id',
      'reference_id',
      'merchant_reference_id',
      'payment_method_code',
      'amount',
      'fee_amount',
      'net_amount',
      'total_amount',
      'status',
      'expires_at',
    ]);
    expect(body.payments.every((item: { status: string }) => item.status === 'pending')).toBe(true);
  });

  it('creates two bulks of fifty at a time: the second one waits for its turn, instead of 429', async () => {
    // A machine that needs longer for one bulk than another one may wait gets further attempts.
    const { requests, statuses } = await eventually(
      async () => {
        const requests = ['one', 'two'].map((name) => ({ payments: items(50, `${name}-${randomUUID()}`) }));
        const responses = await Promise.all(requests.map((request) => service.call('POST', '/payments', request)));
        return { requests, statuses: responses.map(({ status }) => status) };
      },
      ({ statuses }) => !statuses.includes(429),
    );
    expect(statuses).not.toContain(429);
    for (const request of requests) await untilAllArePending(request);
  });

  it('201: a repeat gets the same bytes and creates nothing', async () => {
    const request = { payments: items(5, 'again') };
    const first = await service.call('POST', '/payments', request);
    const before = await countPayments();
    const again = await service.call('POST', '/payments', request);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await countPayments()).toBe(before);
  });

  it('201: a key used alone and then in a bulk creates one payment', async () => {
    const single = await service.call('POST', '/payments', { amount: 5_000 }, { 'idempotency-key': 'both-ways' });
    const { body } = await service.call('POST', '/payments', {
      payments: [{ amount: 5_000, idempotency_key: 'both-ways' }, { amount: 6_000 }],
    });
    expect(body.payments[0].id).toBe(single.body.payment.id);
  });

  it('201: the header distinguishes items without a key', async () => {
    const request = { payments: [{ amount: 5_000 }, { amount: 5_000 }] };
    const ids = async () => {
      const { body } = await service.call('POST', '/payments', request, { 'idempotency-key': 'by-header' });
      return body.payments.map(({ id }: { id: string }) => id);
    };
    const first = await ids();
    expect(new Set(first).size).toBe(2);
    expect(await ids()).toEqual(first);
  });

  it('201: payments takes precedence over amount, and the provider at the top applies to all items', async () => {
    const { body } = await service.call('POST', '/payments', {
      amount: 1,
      provider: 'shopeepay',
      payments: [{ amount: 8_000, provider: 'gopay' }],
    });
    const { body: detail } = await service.call('GET', `/payments/${body.payments[0].id}`);
    expect(detail.payment).toMatchObject({ amount: 8_000, provider: 'shopeepay' });
  });

  it('201: an item that the provider rejected is in the response', async () => {
    await service.injectFault('charge', 'reject', 1);
    const { status, body } = await service.call('POST', '/payments', { payments: items(3, 'one-refused') });
    expect(status).toBe(201);
    const failed = body.payments.filter((item: { status: string }) => item.status === 'failed');
    expect(failed).toHaveLength(1);
    expect(failed[0].error).toEqual({ code: 'payment_create_failed', message: expect.stringMatching(/[^.]\.$/) });
  });

  it('400 payment_create_failed: if the provider rejected all items, also for every repeat', async () => {
    await service.injectFault('charge', 'reject', 2);
    const request = { payments: items(2, 'all-refused') };
    const first = await service.call('POST', '/payments', request);
    expect([first.status, first.body.error.code]).toEqual([400, 'payment_create_failed']);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const again = await service.call('POST', '/payments', request);
    expect([again.status, again.text]).toEqual([400, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  // The provider opens an order when the call arrives, and responds three seconds later. The orders of the first three
  // seconds were opened before the first response. With eight calls at a time they are eight.
  it('201: issues fifty concurrently, also if the provider is slow', async () => {
    let attempt = 0;
    const createSlowly = async () => {
      await service.injectFault('charge', 'slow', 50);
      const request = { payments: items(50, `slow-fifty-${(attempt += 1)}`) };
      const issued = countIn(await service.call('POST', '/payments', request), 'pending');
      await service.clearFaults();
      const { body } = await untilAllArePending(request);
      return { issued, opened: await countOpenedTogether(body.payments) };
    };
    const { opened } = await eventually(createSlowly, ({ issued, opened }) => issued > 3 && opened > 8);
    expect(opened).toBeGreaterThan(8);
  });

  /** The orders that the provider opened before it can have responded to the first of them. */
  async function countOpenedTogether(payments: readonly { reference_id: string }[]): Promise<number> {
    const orders = await service.providerLedger();
    const openedAtMs = payments.map(({ reference_id }) =>
      Date.parse(`${orders.get(reference_id)?.transaction_time}+07:00`),
    );
    const firstResponseAtMs = Math.min(...openedAtMs) + SLOW_MS;
    return openedAtMs.filter((atMs) => atMs < firstResponseAtMs).length;
  }

  it('201: an item that is indeterminate at the deadline is created; a repeat finds the same payments', async () => {
    let attempt = 0;
    const create = async () => {
      await service.clearFaults();
      await service.injectFault('status', 'timeout', 100);
      await service.injectFault('charge', 'timeout');
      const request = { payments: items(4, `one-indeterminate-${(attempt += 1)}`) };
      return { request, first: await service.call('POST', '/payments', request) };
    };
    const { request, first } = await eventually(create, ({ first }) => countIn(first, 'pending') === 3);
    expect(first.status).toBe(201);
    const indeterminate = first.body.payments.filter((item: { status: string }) => item.status === 'created');
    expect(indeterminate).toEqual([expect.objectContaining({ expires_at: null })]);
    expect(indeterminate[0]).not.toHaveProperty('error');

    await service.clearFaults();
    const again = await untilAllArePending(request);
    const ids = ({ body }: ApiResponse) => body.payments.map(({ id }: { id: string }) => id);
    expect(ids(again)).toEqual(ids(first));
    for (const { reference_id } of again.body.payments) {
      expect(await service.atProvider(reference_id)).toMatchObject({
        charge_calls: expect.any(Number),
        status: 'pending',
      });
    }
  });

  it.each([
    ['none', [], 'invalid_bulk_size', /1 to 50/],
    ['51', items(51, 'many'), 'invalid_bulk_size', /1 to 50/],
    ['an object', {}, 'invalid_bulk_size', /1 to 50/],
    ['an item that is no object', [{ amount: 5_000 }, 7], 'invalid_json', /payments\[1\]/],
    ['a bad amount', [{ amount: 5_000 }, { amount: 0 }], 'invalid_amount', /payments\[1\]\.amount/],
    ['a fee above the amount', [{ amount: 5_000 }, { amount: 1 }], 'payment_create_failed', /payments\[1\]/],
    ['an unknown method', [{ amount: 5_000, payment_method: 'card' }], 'unsupported_payment_method', /payments\[0\]/],
    [
      'a key twice',
      [
        { amount: 5_000, idempotency_key: 'twice' },
        { amount: 6_000, idempotency_key: 'twice' },
      ],
      'payment_create_failed',
      /payments\[1\]\.idempotency_key/,
    ],
  ])('400: %s creates nothing', async (_name, payments, code, message) => {
    const before = await countPayments();
    const { status, body } = await service.call('POST', '/payments', { payments });
    expect([status, body.error.code]).toEqual([400, code]);
    expect(body.error.message).toMatch(message);
    expect(await countPayments()).toBe(before);
  });

  it('400: a key of another payment creates nothing, and the message names the item', async () => {
    await service.call('POST', '/payments', { amount: 5_000 }, { 'idempotency-key': 'taken' });
    const before = await countPayments();
    const { status, body } = await service.call('POST', '/payments', {
      payments: [{ amount: 9_000 }, { amount: 9_000, idempotency_key: 'taken' }],
    });
    expect([status, body.error.code]).toEqual([400, 'payment_create_failed']);
    expect(body.error.message).toMatch(/payments\[1\]/);
    expect(await countPayments()).toBe(before);
  });
});
