import { setTimeout as sleep } from 'node:timers/promises';
import { FAULT_KINDS, FAULT_OPERATIONS, SLOW_MS } from '../../src/sandbox/faults';
import { eventually } from '../support/eventually';
import {
  newOrderId,
  openSandbox,
  signatureOf,
  startNotificationReceiver,
  type Json,
  type NotificationReceiver,
  type SandboxUnderTest,
} from './sandbox-under-test';

let receiver: NotificationReceiver;
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  receiver = await startNotificationReceiver();
  sandbox = await openSandbox();
});

beforeEach(async () => {
  receiver.bodies.length = 0;
  receiver.respond = (response) => void response.end();
  await sandbox.call('DELETE', '/simulator/faults');
});

afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});

const arm = (operation: string, kind: string, times = 1) =>
  sandbox.call('PUT', '/simulator/faults', { operation, kind, times });
const pay = (id: string) => sandbox.call('POST', `/simulator/payments/${id}/pay`);

/** What the merchant sees of a call. */
async function seen(call: Promise<Json>, expected = 'a response'): Promise<string> {
  const outcome = call.then(
    (response) => `${response.status_code}`,
    (error: Error) => (error.name === 'TimeoutError' ? 'no response' : 'broken off'),
  );
  return expected === 'no response' ? Promise.race([outcome, waitForTimeout()]) : outcome;
}

/** Waits until the call has its fault, and then for the merchant's timeout. */
async function waitForTimeout(): Promise<string> {
  await faultsAreUsedUp();
  await sleep(400);
  return 'no response';
}

const faultsAreUsedUp = () =>
  eventually(
    () => sandbox.call('GET', '/simulator/faults'),
    ({ faults }) => faults.length === 0,
  );

/** Waits for the expected state of an order. The acquirer may finish a call after the merchant's timeout. */
function listed(orderId: string, isExpected: (order: Json) => boolean = () => true): Promise<Json> {
  const read = async (): Promise<Json> => {
    const { payments } = await sandbox.call('GET', '/simulator/payments');
    return payments.find((order: Json) => order.order_id === orderId);
  };
  return eventually(read, isExpected);
}

const hasStatus = (status: string) => (order: Json) => order.status === status;

describe('a fault of the API', () => {
  /** What the merchant sees, and whether the acquirer executes the call. */
  const KINDS = [
    ['timeout', 'no response', false],
    ['reset', 'broken off', false],
    ['http_500', '500', false],
    ['accept_then_timeout', 'no response', true],
    ['accept_then_reset', 'broken off', true],
    ['half_body', 'broken off', true],
  ] as const;

  it.each(KINDS)('%s on charge: the merchant sees "%s", the order exists: %s', async (kind, expected, done) => {
    const orderId = newOrderId();
    await arm('charge', kind);
    expect(await seen(sandbox.charge({ orderId }), expected)).toBe(expected);
    const chargeCalls = done ? 1 : undefined;
    await listed(orderId, (order) => order?.charge_calls === chargeCalls);
    // The fault is used up: the next call succeeds.
    expect(await seen(sandbox.charge({ orderId }))).toBe(done ? '406' : '201');
  });

  it.each(KINDS)('%s on cancel: the merchant sees "%s", the order is cancelled: %s', async (kind, expected, done) => {
    const { order_id } = await sandbox.charge();
    await arm('cancel', kind);
    expect(await seen(sandbox.call('POST', `/v2/${order_id}/cancel`), expected)).toBe(expected);
    await listed(order_id, hasStatus(done ? 'cancel' : 'pending'));
  });

  it.each(KINDS)('%s on expire: the merchant sees "%s", the order is expired: %s', async (kind, expected, done) => {
    const { order_id } = await sandbox.charge();
    await arm('expire', kind);
    expect(await seen(sandbox.call('POST', `/v2/${order_id}/expire`), expected)).toBe(expected);
    await listed(order_id, hasStatus(done ? 'expire' : 'pending'));
  });

  it.each(KINDS)('%s on refund: the merchant sees "%s", the acquirer accepts it: %s', async (kind, expected, done) => {
    const { order_id } = await sandbox.charge();
    await pay(order_id);
    await arm('refund', kind);
    expect(await seen(sandbox.call('POST', `/v2/${order_id}/refund`, { refund_key: 'r1' }), expected)).toBe(expected);
    await listed(order_id, ({ refunds }) => refunds.length === (done ? 1 : 0));
  });

  it.each(KINDS)('%s on status: the merchant sees "%s"', async (kind, expected) => {
    const { order_id } = await sandbox.charge();
    await arm('status', kind);
    expect(await seen(sandbox.call('GET', `/v2/${order_id}/status`), expected)).toBe(expected);
  });

  it('slow: the acquirer executes each call and responds after three seconds', async () => {
    const [first, second, paid] = [await sandbox.charge(), await sandbox.charge(), await sandbox.charge()];
    await pay(paid.order_id);
    for (const operation of ['charge', 'status', 'cancel', 'expire', 'refund']) await arm(operation, 'slow');
    const orderId = newOrderId();
    const startedAtMs = performance.now();
    const calls = [
      sandbox.charge({ orderId }),
      sandbox.call('GET', `/v2/${first.order_id}/status`),
      sandbox.call('POST', `/v2/${first.order_id}/cancel`),
      sandbox.call('POST', `/v2/${second.order_id}/expire`),
      sandbox.call('POST', `/v2/${paid.order_id}/refund`, { refund_key: 'r1' }),
    ];
    expect(await Promise.all(calls.map((call) => seen(call, 'no response')))).toEqual(calls.map(() => 'no response'));
    await listed(orderId, (order) => order?.status === 'pending');
    await listed(first.order_id, hasStatus('cancel'));
    await listed(second.order_id, hasStatus('expire'));
    await listed(paid.order_id, ({ refunds }) => refunds.length === 1);
    const codes = (await Promise.all(calls)).map((response) => response.status_code);
    expect(codes).toEqual(['201', expect.any(String), '200', '407', '200']);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(SLOW_MS);
  });

  it.each([
    ['charge', '402'],
    ['status', '429'],
    ['cancel', '412'],
    ['expire', '412'],
    ['refund', '202'],
  ])('reject: the acquirer rejects %s with %s', async (operation, code) => {
    const { order_id } = await sandbox.charge();
    if (operation === 'refund') await pay(order_id);
    await arm(operation, 'reject');
    const response =
      operation === 'charge'
        ? await sandbox.charge()
        : await sandbox.call(operation === 'status' ? 'GET' : 'POST', `/v2/${order_id}/${operation}`, undefined);
    expect(response.status_code).toBe(code);
    expect(await listed(order_id)).toMatchObject({ status: operation === 'refund' ? 'settlement' : 'pending' });
  });

  it('reject: lists the refund as rejected, rejects the same key again, and accepts another key', async () => {
    const { order_id } = await sandbox.charge();
    await pay(order_id);
    await arm('refund', 'reject');
    const refund = (refund_key: string) =>
      sandbox.call('POST', `/v2/${order_id}/refund`, { refund_key, amount: 50_000 });
    expect(await refund('r1')).toMatchObject({
      status_code: '202',
      transaction_status: 'settlement',
      refund_amount: '0.00',
    });
    expect(await refund('r1')).toMatchObject({ status_code: '202' });
    expect((await listed(order_id)).refunds).toEqual([{ refund_key: 'r1', amount: 50_000, status: 'rejected' }]);
    expect(await sandbox.call('GET', `/v2/${order_id}/status`)).not.toHaveProperty('refunds');
    expect(await refund('r2')).toMatchObject({ status_code: '200', transaction_status: 'refund' });
  });
});

describe('a fault of the notifications', () => {
  const QUIET_MS = 700;

  /** The notifications received until `count`, and for a while after. */
  async function notified(kind: string, count: number): Promise<Json[]> {
    await arm('notify', kind);
    const { order_id } = await sandbox.charge({}, { 'x-override-notification': receiver.url });
    await pay(order_id);
    await faultsAreUsedUp();
    await receiver.waitFor(count);
    await sleep(QUIET_MS);
    return receiver.bodies.map((body) => {
      try {
        return JSON.parse(body);
      } catch {
        return 'unreadable';
      }
    });
  }
  const good = expect.objectContaining({ transaction_status: 'settlement' });

  it.each(['silent', 'reject'])('%s: no notification arrives', async (kind) => {
    expect(await notified(kind, 0)).toEqual([]);
  });

  it.each(['timeout', 'reset', 'http_500'])('%s: the second attempt arrives', async (kind) => {
    expect(await notified(kind, 1)).toEqual([good]);
  });

  it.each(['accept_then_timeout', 'accept_then_reset'])('%s: the notification arrives twice', async (kind) => {
    expect(await notified(kind, 2)).toEqual([good, good]);
  });

  it('half_body: half of the body arrives', async () => {
    expect(await notified('half_body', 1)).toEqual(['unreadable']);
  });

  it('half_body: the whole body arrives after the merchant has rejected the half', async () => {
    let rejections = 1;
    receiver.respond = (response) => void response.writeHead(rejections-- > 0 ? 400 : 200).end();
    expect(await notified('half_body', 2)).toEqual(['unreadable', good]);
  });

  it('http_500 three times: three attempts fail, the fourth arrives', async () => {
    const { order_id } = await sandbox.charge({}, { 'x-override-notification': receiver.url });
    await arm('notify', 'http_500', 3);
    await pay(order_id);
    await receiver.waitFor(1);
    expect(await sandbox.call('GET', '/simulator/faults')).toMatchObject({ faults: [] });
  });

  it.each([
    ['expire', 1],
    ['cancel', 1],
    ['refund', 2],
  ])('silent: no notification of %s arrives', async (operation, times) => {
    const { order_id } = await sandbox.charge({}, { 'x-override-notification': receiver.url });
    if (operation === 'refund') await sandbox.call('POST', `/simulator/payments/${order_id}/pay`, { notify: false });
    await arm('notify', 'silent', times);
    await sandbox.call('POST', `/v2/${order_id}/${operation}`, { refund_key: 'r1' });
    await faultsAreUsedUp();
    await sleep(300);
    expect(receiver.bodies).toEqual([]);
  });

  it('slow: the notification arrives three seconds later', async () => {
    const startedAtMs = performance.now();
    expect(await notified('slow', 1)).toEqual([good]);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(SLOW_MS + QUIET_MS);
  });

  it('bad_signature: the signature is wrong, and right after the merchant has rejected it', async () => {
    let rejections = 1;
    receiver.respond = (response) => void response.writeHead(rejections-- > 0 ? 401 : 200).end();
    const [forged, genuine] = await notified('bad_signature', 2);
    expect(forged.signature_key).toMatch(/^[0-9a-f]{128}$/);
    expect(forged.signature_key).not.toBe(signatureOf(forged));
    expect(genuine.signature_key).toBe(signatureOf(genuine));
  });
});

describe('PUT /simulator/faults', () => {
  it('arms faults per operation, and counts them down', async () => {
    await arm('charge', 'http_500', 2);
    expect(await arm('status', 'http_500')).toMatchObject({
      faults: [
        { operation: 'charge', kind: 'http_500', times: 2 },
        { operation: 'status', kind: 'http_500', times: 1 },
      ],
    });
    await sandbox.charge();
    await sandbox.call('GET', '/v2/x/status');
    expect(await sandbox.call('GET', '/simulator/faults')).toMatchObject({
      faults: [{ operation: 'charge', kind: 'http_500', times: 1 }],
    });
    expect(await sandbox.call('DELETE', '/simulator/faults')).toEqual({ http: 200, faults: [] });
    expect(await seen(sandbox.charge())).toBe('201');
  });

  it('accepts a forgotten key for charges, and silent and bad_signature only for notifications', async () => {
    for (const operation of FAULT_OPERATIONS) {
      for (const kind of FAULT_KINDS) {
        const possible =
          kind === 'forgotten_key'
            ? operation === 'charge'
            : operation === 'notify' ||
              operation === 'transfer_notify' ||
              (kind !== 'silent' && kind !== 'bad_signature');
        expect((await arm(operation, kind)).http).toBe(possible ? 200 : 400);
      }
    }
  });

  it.each([
    {},
    { operation: 'charge' },
    { operation: 'pay', kind: 'reset' },
    { operation: 'charge', kind: 'fire' },
    { operation: 'charge', kind: 'reset', times: 0 },
  ])('400: rejects %j', async (body) => {
    expect(await sandbox.call('PUT', '/simulator/faults', body)).toMatchObject({
      http: 400,
      error: { code: 'invalid_fault', message: expect.any(String) },
    });
  });
});
