import { parseQris } from '../../src/qris/qris';
import { eventually } from '../support/eventually';
import { basicAuth, newOrderId, openSandbox, signatureOf, type SandboxUnderTest } from './sandbox-under-test';

let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await openSandbox();
});

afterAll(() => sandbox.close());

const status = (id: string) => sandbox.call('GET', `/v2/${id}/status`);
const pay = (id: string) => sandbox.call('POST', `/simulator/payments/${id}/pay`);
const expire = (id: string) => sandbox.call('POST', `/v2/${id}/expire`);
const cancel = (id: string) => sandbox.call('POST', `/v2/${id}/cancel`);
const refund = (id: string, body: object) => sandbox.call('POST', `/v2/${id}/refund`, body);

async function charged(acquirer = 'gopay'): Promise<string> {
  return (await sandbox.charge({ acquirer })).order_id;
}

async function paid(acquirer = 'gopay'): Promise<string> {
  const id = await charged(acquirer);
  await pay(id);
  return id;
}

/** Parses Midtrans' time, which has no zone. */
function timestampOf(midtransTime: string): number {
  expect(midtransTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  return Date.parse(`${midtransTime.replace(' ', 'T')}+07:00`);
}

function orderTime(timestampMs: number): string {
  const local = new Date(timestampMs + 7 * 3_600_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)} +0700`;
}

describe('POST /v2/charge', () => {
  it.each([
    ['gopay', 'COM.GO-JEK.WWW', /^93600914\d{11}$/],
    ['airpay shopee', 'ID.CO.SHOPEE.WWW', /^93600918\d{11}$/],
  ])('opens an order of %s with a QRIS that any wallet can read', async (acquirer, guid, pan) => {
    const orderId = newOrderId();
    const response = await sandbox.charge({ orderId, acquirer, grossAmount: 275_000 });
    expect(response).toMatchObject({
      http: 200,
      status_code: '201',
      transaction_status: 'pending',
      order_id: orderId,
      gross_amount: '275000.00',
      currency: 'IDR',
      payment_type: 'qris',
      fraud_status: 'accept',
      acquirer,
      merchant_id: expect.any(String),
      actions: [{ name: 'generate-qr-code', method: 'GET' }, { name: 'generate-qr-code-v2' }],
    });
    const qris = parseQris(response.qr_string);
    expect(qris).toMatchObject({
      ok: true,
      value: { kind: 'dynamic', totalRupiah: 275_000, merchantAccounts: [{ guid }] },
    });
    expect(qris.ok && qris.value.merchantAccounts[0]?.pan).toMatch(pan);
  });

  it('serves the QR image at the action URL without a key', async () => {
    const { actions } = await sandbox.charge();
    for (const { url } of actions) {
      const image = await fetch(url);
      expect(image.headers.get('content-type')).toBe('image/png');
      expect(
        Buffer.from(await image.arrayBuffer())
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
    }
  });

  it('formats times in GMT+7 without a zone', async () => {
    const sentAtMs = Math.floor(Date.now() / 1000) * 1000;
    const response = await sandbox.charge();
    const respondedAtMs = Date.now();
    for (const chargedAtMs of [
      timestampOf(response.transaction_time),
      timestampOf(response.expiry_time) - 15 * 60_000,
    ]) {
      expect(chargedAtMs).toBeGreaterThanOrEqual(sentAtMs);
      expect(chargedAtMs).toBeLessThanOrEqual(respondedAtMs);
    }
  });

  it.each([
    ['second', 1000],
    ['minute', 60_000],
    ['hour', 3_600_000],
    ['day', 86_400_000],
  ])('counts custom_expiry in units of a %s from order_time', async (unit, unitMs) => {
    const orderedAt = Math.floor(Date.now() / 1000) * 1000 - 300;
    const customExpiry = { order_time: orderTime(orderedAt), expiry_duration: 90, unit };
    const response = await sandbox.charge({ customExpiry });
    expect(timestampOf(response.expiry_time)).toBe(Math.floor(orderedAt / 1000) * 1000 + 90 * unitMs);
  });

  it('uses minutes if custom_expiry has no unit', async () => {
    const orderedAt = Math.floor(Date.now() / 1000) * 1000;
    const response = await sandbox.charge({
      customExpiry: { order_time: orderTime(orderedAt), expiry_duration: '30' },
    });
    expect(timestampOf(response.expiry_time)).toBe(orderedAt + 30 * 60_000);
  });

  it('rejects a second charge of the same order, and counts it', async () => {
    const orderId = await charged();
    expect(await sandbox.charge({ orderId })).toMatchObject({ http: 200, status_code: '406' });
    expect(await sandbox.charge({ orderId, grossAmount: 1 })).toMatchObject({ status_code: '406' });
    const { payments } = await sandbox.call('GET', '/simulator/payments');
    expect(payments).toContainEqual(
      expect.objectContaining({ order_id: orderId, charge_calls: 3, gross_amount: '50000.00' }),
    );
  });

  it('returns the original response to the same idempotency key, without a charge, for any body', async () => {
    const orderId = newOrderId();
    const key = { 'idempotency-key': 'k'.repeat(46) };
    const first = await sandbox.charge({ orderId }, key);
    await pay(orderId);
    expect(await sandbox.charge({ orderId, grossAmount: 1 }, key)).toEqual(first);
    const { payments } = await sandbox.call('GET', '/simulator/payments');
    expect(payments).toContainEqual(expect.objectContaining({ order_id: orderId, charge_calls: 1 }));
  });

  it('ignores an idempotency key of more than 46 characters', async () => {
    const orderId = newOrderId();
    const key = { 'idempotency-key': 'k'.repeat(47) };
    await sandbox.charge({ orderId }, key);
    expect(await sandbox.charge({ orderId }, key)).toMatchObject({ status_code: '406' });
  });

  it('opens one order for twenty concurrent charges', async () => {
    const orderId = newOrderId();
    const responses = await Promise.all(Array.from({ length: 20 }, () => sandbox.charge({ orderId })));
    expect(responses.filter((response) => response.status_code === '201')).toHaveLength(1);
    expect(responses.filter((response) => response.status_code === '406')).toHaveLength(19);
  });

  it.each<[string, object]>([
    ['no gross_amount', { grossAmount: null }],
    ['an amount in a string', { grossAmount: '50000' }],
    ['an amount with a fraction', { grossAmount: 0.5 }],
    ['an amount of nothing', { grossAmount: 0 }],
    ['an amount above the QRIS limit', { grossAmount: 10_000_001 }],
    ['an order id of 51 characters', { orderId: 'x'.repeat(51) }],
    ['an order id with a slash', { orderId: 'a/b' }],
    ['an unknown acquirer', { acquirer: 'dana' }],
    ['an expiry of nothing', { customExpiry: { expiry_duration: 0 } }],
    ['an order time without a zone', { customExpiry: { expiry_duration: 5, order_time: '2026-01-01 10:00:00' } }],
    ['an unknown unit', { customExpiry: { expiry_duration: 5, unit: 'week' } }],
  ])('400: %s', async (_, change) => {
    expect(await sandbox.charge(change)).toMatchObject({
      http: 400,
      status_code: '400',
      validation_messages: [expect.any(String)],
    });
  });

  it('400 for invalid JSON, 413 for a body that is too large', async () => {
    expect(await sandbox.call('POST', '/v2/charge', '{"payment_type":')).toMatchObject({
      http: 400,
      status_code: '400',
    });
    expect(await sandbox.call('POST', '/v2/%zz/expire')).toMatchObject({ http: 400, status_code: '400' });
    expect(await sandbox.call('POST', '/v2/charge', { note: 'x'.repeat(70_000) })).toMatchObject({
      status_code: '413',
    });
  });
});

describe('the server key', () => {
  it.each([
    ['no key', ''],
    ['another key', basicAuth('SB-Mid-server-other')],
    ['a bearer token', 'Bearer SB-Mid-server-lunas-sandbox'],
  ])('the server key is required: 401 for %s', async (_, authorization) => {
    for (const [method, path] of [
      ['GET', '/v2/x/status'],
      ['POST', '/v2/charge'],
      ['POST', '/v2/x/refund'],
    ] as const) {
      expect(await sandbox.call(method, path, undefined, { authorization })).toMatchObject({
        http: 401,
        status_code: '401',
      });
    }
  });
});

describe('GET /v2/:id/status', () => {
  it('status_code 404 for an unknown order', async () => {
    expect(await status(newOrderId())).toMatchObject({ http: 200, status_code: '404' });
  });

  it('finds an order by its transaction id', async () => {
    const { order_id, transaction_id } = await sandbox.charge();
    expect(await status(transaction_id)).toMatchObject({ status_code: '201', order_id, transaction_status: 'pending' });
  });

  it('GET /v2/:id/status does not return the QR string, like Midtrans', async () => {
    expect(await status(await charged())).not.toHaveProperty('qr_string');
  });

  it('returns settlement, its time and the issuer after the customer has paid', async () => {
    const startedAtMs = Math.floor(Date.now() / 1000) * 1000;
    const response = await status(await paid());
    expect(response).toMatchObject({
      status_code: '200',
      transaction_status: 'settlement',
      issuer: 'gopay',
      transaction_type: 'on-us',
    });
    expect(timestampOf(response.settlement_time)).toBeGreaterThanOrEqual(startedAtMs);
    expect(timestampOf(response.settlement_time)).toBeLessThanOrEqual(Date.now());
    expect(response.signature_key).toBe(signatureOf(response));
  });

  it('returns expire as soon as the order is overdue', async () => {
    const { order_id } = await sandbox.charge({ customExpiry: { expiry_duration: 4, unit: 'second' } });
    expect(await status(order_id)).toMatchObject({ transaction_status: 'pending' });
    const response = await eventually(
      () => status(order_id),
      ({ transaction_status }) => transaction_status !== 'pending',
    );
    expect(response).toMatchObject({ status_code: '407', transaction_status: 'expire' });
    expect(Date.now()).toBeGreaterThanOrEqual(timestampOf(response.expiry_time));
    expect(await expire(order_id)).toMatchObject({ status_code: '407' });
    expect(await cancel(order_id)).toMatchObject({ status_code: '412' });
  });
});

describe('POST /v2/:id/expire and /v2/:id/cancel', () => {
  it.each(['gopay', 'airpay shopee'])(
    'expires a pending order of %s with 407, also when repeated',
    async (acquirer) => {
      const id = await charged(acquirer);
      expect(await expire(id)).toMatchObject({
        http: 200,
        status_code: '407',
        transaction_status: 'expire',
        order_id: id,
      });
      expect(await expire(id)).toMatchObject({ status_code: '407' });
      expect(await status(id)).toMatchObject({ transaction_status: 'expire' });
    },
  );

  it('cancels a pending order with 200, once', async () => {
    const id = await charged();
    expect(await cancel(id)).toMatchObject({
      http: 200,
      status_code: '200',
      transaction_status: 'cancel',
      order_id: id,
    });
    expect(await cancel(id)).toMatchObject({ status_code: '412' });
    expect(await expire(id)).toMatchObject({ status_code: '412' });
  });

  it('a cancel at ShopeePay is rejected', async () => {
    const id = await charged('airpay shopee');
    expect(await cancel(id)).toMatchObject({ status_code: '412' });
    expect(await status(id)).toMatchObject({ transaction_status: 'pending' });
  });

  it('rejects both for a paid order', async () => {
    const id = await paid();
    expect(await expire(id)).toMatchObject({ status_code: '412' });
    expect(await cancel(id)).toMatchObject({ status_code: '412' });
    expect(await status(id)).toMatchObject({ transaction_status: 'settlement' });
  });

  it('status_code 404 for an unknown order', async () => {
    expect(await expire(newOrderId())).toMatchObject({ status_code: '404' });
    expect(await cancel(newOrderId())).toMatchObject({ status_code: '404' });
  });

  it('exactly one of concurrent cancel and expire succeeds', async () => {
    for (let repetition = 0; repetition < 10; repetition++) {
      const id = await charged();
      const responses = await Promise.all([cancel(id), expire(id), cancel(id), cancel(id)]);
      const winners = responses.filter((response) => response.status_code !== '412');
      expect(winners).toHaveLength(1);
      expect(await status(id)).toMatchObject({ transaction_status: winners[0]?.transaction_status });
    }
  });
});

describe('POST /v2/:id/refund', () => {
  it('accepts the request first and confirms it later', async () => {
    const id = await paid();
    expect(await refund(id, { refund_key: 'r1', amount: 50_000, reason: 'out of stock' })).toMatchObject({
      status_code: '200',
      transaction_status: 'refund',
      refund_key: 'r1',
      refund_amount: '50000.00',
    });
    const first = await status(id);
    expect(first).toMatchObject({
      transaction_status: 'refund',
      refunds: [{ refund_key: 'r1', reason: 'out of stock' }],
    });
    expect(first.refunds[0]).not.toHaveProperty('bank_confirmed_at');
    const last = await eventually(
      () => status(id),
      ({ refunds }) => refunds[0].bank_confirmed_at !== undefined,
    );
    expect(timestampOf(last.refunds[0].bank_confirmed_at)).toBeGreaterThanOrEqual(
      timestampOf(last.refunds[0].created_at),
    );
  });

  it('refunds once for a repeated refund key', async () => {
    const id = await paid();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => refund(id, { refund_key: 'r1', amount: 50_000 })),
    );
    expect(new Set(responses.map((response) => response.status_code))).toEqual(new Set(['200']));
    expect(await refund(id, { refund_key: 'r2', amount: 50_000 })).toMatchObject({ status_code: '412' });
    const { payments } = await sandbox.call('GET', '/simulator/payments');
    const payment = payments.find((payment: { order_id: string }) => payment.order_id === id);
    expect(payment.refunds).toEqual([
      { refund_key: 'r1', amount: 50_000, status: expect.stringMatching(/requested|confirmed/) },
    ]);
  });

  it('refunds partially until nothing remains', async () => {
    const id = await paid();
    expect(await refund(id, { refund_key: 'r1', amount: 20_000 })).toMatchObject({
      transaction_status: 'partial_refund',
    });
    expect(await refund(id, { refund_key: 'r2', amount: 30_001 })).toMatchObject({ status_code: '414' });
    expect(await refund(id, { refund_key: 'r3' })).toMatchObject({
      transaction_status: 'refund',
      refund_amount: '30000.00',
    });
    expect(await status(id)).toMatchObject({ transaction_status: 'refund', refund_amount: '50000.00' });
  });

  it('rejects an unpaid order, an unknown order, and ShopeePay', async () => {
    expect(await refund(await charged(), { refund_key: 'r1' })).toMatchObject({ status_code: '412' });
    expect(await refund(await paid('airpay shopee'), { refund_key: 'r1' })).toMatchObject({ status_code: '412' });
    expect(await refund(newOrderId(), { refund_key: 'r1' })).toMatchObject({ status_code: '404' });
    expect(await refund(await paid(), { refund_key: 'r1', amount: -1 })).toMatchObject({ status_code: '400' });
  });
});

it('the sandbox has the same data after a restart', async () => {
  const open = await charged();
  const done = await paid();
  await sandbox.restart();
  expect(await status(open)).toMatchObject({ transaction_status: 'pending' });
  expect(await status(done)).toMatchObject({ transaction_status: 'settlement' });
  expect(await sandbox.charge({ orderId: open })).toMatchObject({ status_code: '406' });
});

it('a taken port is a UserError of one line', async () => {
  const { port } = new URL(sandbox.url);
  await expect(sandbox.startAnother(Number(port))).rejects.toThrow(/^Port \d+ is taken: .*SANDBOX_PORT/);
});
