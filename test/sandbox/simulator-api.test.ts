import { parsePayload, serializePayload } from '../../src/qris/payload';
import { eventually } from '../support/eventually';
import { newOrderId, openSandbox, type SandboxUnderTest } from './sandbox-under-test';

let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await openSandbox();
});

afterAll(() => sandbox.close());

const pay = (id: string, body?: object) => sandbox.call('POST', `/simulator/payments/${id}/pay`, body);
const scan = (qris_payload: unknown) => sandbox.call('POST', '/simulator/scan', { qris_payload });

async function listed(orderId: string) {
  const { payments } = await sandbox.call('GET', '/simulator/payments');
  return payments.find((payment: { order_id: string }) => payment.order_id === orderId);
}

/** A forged QR: the same order with another amount and a valid CRC. */
function withAmount(payload: string, amount: string): string {
  const parsed = parsePayload(payload);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const printed = serializePayload(
    parsed.value.map((object) => (object.tag === '54' ? { tag: '54', value: amount } : object)),
  );
  if (!printed.ok) throw new Error(printed.error.message);
  return printed.value;
}

describe('POST /simulator/payments/:order_id/pay', () => {
  it('pays a pending order', async () => {
    const { order_id, transaction_id } = await sandbox.charge();
    expect(await pay(order_id)).toEqual({
      http: 200,
      payment: {
        order_id,
        transaction_id,
        status: 'settlement',
        gross_amount: '50000.00',
        transaction_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
        charge_calls: 1,
        status_calls: 0,
        refunds: [],
      },
    });
  });

  it('pays an expired or cancelled order: a late payment', async () => {
    const expired = await sandbox.charge({ customExpiry: { expiry_duration: 1, unit: 'second' } });
    await eventually(
      () => listed(expired.order_id),
      ({ status }) => status === 'expire',
    );
    const cancelled = await sandbox.charge();
    await sandbox.call('POST', `/v2/${cancelled.order_id}/cancel`);
    for (const { order_id } of [expired, cancelled]) {
      expect(await pay(order_id)).toMatchObject({ payment: { status: 'settlement' } });
      expect(await sandbox.call('GET', `/v2/${order_id}/status`)).toMatchObject({ transaction_status: 'settlement' });
    }
  });

  it('pays once for concurrent payers', async () => {
    const { order_id } = await sandbox.charge();
    const responses = await Promise.all(Array.from({ length: 10 }, () => pay(order_id)));
    expect(responses.filter((response) => response.http === 200)).toHaveLength(1);
    expect(responses.filter((response) => response.http === 409)).toHaveLength(9);
    expect(responses.find((response) => response.http === 409)?.error).toEqual({
      code: 'already_paid',
      message: expect.any(String),
    });
  });

  it('the payment succeeds before or after a concurrent expiry', async () => {
    for (let repetition = 0; repetition < 10; repetition++) {
      const { order_id } = await sandbox.charge();
      const [, expiry] = await Promise.all([pay(order_id), sandbox.call('POST', `/v2/${order_id}/expire`)]);
      // A late payment is possible, so the order is paid in both cases. The expiry's response differs.
      expect(['407', '412']).toContain(expiry.status_code);
      expect(await listed(order_id)).toMatchObject({ status: 'settlement' });
    }
  });

  it('404 for an unknown order', async () => {
    expect(await pay(newOrderId())).toMatchObject({ http: 404, error: { code: 'not_found' } });
  });

  it.each([{ times: 0 }, { times: 10_001 }, { times: 1.5 }, { notify: 'perhaps' }])('400: rejects %j', async (body) => {
    const { order_id } = await sandbox.charge();
    expect(await pay(order_id, body)).toMatchObject({ http: 400, error: { code: 'invalid_request' } });
    expect(await listed(order_id)).toMatchObject({ status: 'pending' });
  });
});

describe('POST /simulator/scan', () => {
  it.each(['gopay', 'airpay shopee'])('pays the order of a QR of %s', async (acquirer) => {
    const { order_id, qr_string } = await sandbox.charge({ acquirer });
    expect(await scan(qr_string)).toMatchObject({ http: 200, payment: { order_id, status: 'settlement' } });
  });

  it('400 for a payload that does not parse or whose CRC is wrong', async () => {
    const { order_id, qr_string } = await sandbox.charge();
    const wrongCrc = qr_string.slice(0, -1) + (qr_string.endsWith('0') ? '1' : '0');
    for (const payload of ['', 'hello', qr_string.slice(1), wrongCrc]) {
      expect(await scan(payload)).toMatchObject({ http: 400, error: { code: 'invalid_qris' } });
    }
    expect(await scan(17)).toMatchObject({ http: 400, error: { code: 'invalid_request' } });
    expect(await listed(order_id)).toMatchObject({ status: 'pending' });
  });

  it('404 for a valid QRIS that is not of a pending order of this sandbox', async () => {
    const other = await openSandbox();
    const foreign = await other.charge();
    await other.close();
    const paid = await sandbox.charge();
    await pay(paid.order_id);
    const expired = await sandbox.charge();
    await sandbox.call('POST', `/v2/${expired.order_id}/expire`);
    const open = await sandbox.charge();
    for (const payload of [foreign.qr_string, paid.qr_string, expired.qr_string, withAmount(open.qr_string, '1')]) {
      expect(await scan(payload)).toMatchObject({ http: 404, error: { code: 'not_found' } });
    }
    expect(await listed(open.order_id)).toMatchObject({ status: 'pending' });
  });
});

describe('GET /simulator/payments', () => {
  it('counts the status calls of each order, by either id, with injected faults included', async () => {
    const [target, other] = [await sandbox.charge(), await sandbox.charge()];
    await sandbox.call('GET', `/v2/${target.order_id}/status`);
    await sandbox.call('GET', `/v2/${target.transaction_id}/status`);
    await sandbox.call('PUT', '/simulator/faults', { operation: 'status', kind: 'http_500' });
    expect(await sandbox.call('GET', `/v2/${target.order_id}/status`)).toMatchObject({ http: 500 });
    expect(await listed(target.order_id)).toMatchObject({ charge_calls: 1, status_calls: 3 });
    expect(await listed(other.order_id)).toMatchObject({ charge_calls: 1, status_calls: 0 });
  });

  it('counts concurrent status calls during a payment; a restart preserves the count', async () => {
    const { order_id } = await sandbox.charge();
    const calls = Array.from({ length: 50 }, () => sandbox.call('GET', `/v2/${order_id}/status`));
    await Promise.all([pay(order_id), ...calls]);
    await sandbox.restart();
    expect(await listed(order_id)).toMatchObject({ status: 'settlement', status_calls: 50 });
  });
});

describe('/simulator/bank', () => {
  const setBank = (body: unknown) => sandbox.call('PUT', '/simulator/bank', body);
  const bank = () => sandbox.call('GET', '/simulator/bank');

  async function requestRefund(): Promise<string> {
    const { order_id } = await sandbox.charge();
    await pay(order_id);
    await sandbox.call('POST', `/v2/${order_id}/refund`, { refund_key: 'R1' });
    return order_id;
  }

  /** The sandbox expires orders in the same sweep in which it confirms refunds. */
  async function untilSwept(): Promise<void> {
    const { order_id } = await sandbox.charge({ customExpiry: { expiry_duration: 1, unit: 'second' } });
    await eventually(
      () => listed(order_id),
      ({ status }) => status === 'expire',
    );
  }

  const untilConfirmed = (orderId: string) =>
    eventually(
      () => listed(orderId),
      ({ refunds }) => refunds[0].status === 'confirmed',
    );

  afterEach(() => setBank({ refund_confirms_after_seconds: 1 }));

  it('confirms a refund after a second by default', async () => {
    expect(await bank()).toEqual({ http: 200, refund_confirms_after_seconds: 1 });
    await untilConfirmed(await requestRefund());
  });

  it('applies a new delay to unconfirmed refunds', async () => {
    expect(await setBank({ refund_confirms_after_seconds: 3600 })).toEqual({
      http: 200,
      refund_confirms_after_seconds: 3600,
    });
    const orderId = await requestRefund();
    await untilSwept();
    await untilSwept();
    expect(await listed(orderId)).toMatchObject({ status: 'refund', refunds: [{ status: 'requested' }] });
    await setBank({ refund_confirms_after_seconds: 0 });
    await untilConfirmed(orderId);
  });

  it.each([0, 0.5, 1e308])('accepts a delay of %d s', async (refund_confirms_after_seconds) => {
    await setBank({ refund_confirms_after_seconds });
    expect(await bank()).toEqual({ http: 200, refund_confirms_after_seconds });
  });

  it('a restart of the sandbox preserves the delay', async () => {
    await setBank({ refund_confirms_after_seconds: 7.5 });
    await sandbox.restart();
    expect(await bank()).toEqual({ http: 200, refund_confirms_after_seconds: 7.5 });
  });

  it.each([
    '{"refund_confirms_after_seconds": -1}',
    '{"refund_confirms_after_seconds": -0.001}',
    '{"refund_confirms_after_seconds": 1e400}',
    '{"refund_confirms_after_seconds": "5"}',
    '{"refund_confirms_after_seconds": null}',
    '{"refund_confirms_after_seconds": true}',
    '{"refund_confirms_after_seconds": [5]}',
    '{}',
    '5',
    'null',
    '[]',
  ])('400: %s is no delay, and changes nothing', async (body) => {
    expect(await setBank(body)).toEqual({
      http: 400,
      error: { code: 'invalid_request', message: expect.any(String) },
    });
    expect(await bank()).toMatchObject({ refund_confirms_after_seconds: 1 });
  });
});

describe('GET /healthz', () => {
  it('200 if PostgreSQL is available', async () => {
    expect(await sandbox.call('GET', '/healthz')).toEqual({ http: 200, status: 'ok' });
  });
});
