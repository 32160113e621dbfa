import { request } from 'node:http';
import { paymentRequestSchema, toNewPayment } from '../../../../src/api/payments/create-payment/payment-request';
import { changeMerchant } from '../../../../src/services/merchants/merchants';
import { digestOf } from '../../../../src/services/payments/create/request-fingerprint';
import { waitForStatus } from '../../../support/created-payment';
import { eventually } from '../../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function countPayments(): Promise<number> {
  const { rows } = await service.db.query('select count(*) as count from payments');
  return rows[0].count;
}

describe('POST /payments', () => {
  it('201: returns exactly the fields of the contract and a QR that can be paid', async () => {
    const { status, body, headers } = await service.call('POST', '/payments', {
      amount: 50_000,
      merchant_reference_id: 'ORDER-7',
      customer: { name: 'Siti', email: 'siti@example.com' },
      metadata: { table: 4, vip: true },
      unknown: 'ignored',
    });
    expect(status).toBe(201);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(Object.keys(body)).toEqual(['payment']);
    expect(Object.keys(body.payment)).toEqual([
      'id',
      'reference_id',
      'merchant_reference_id',
      'payment_method_code',
      'provider',
      'currency',
      'amount',
      'fee_amount',
      'net_amount',
      'total_amount',
      'status',
      'qris_payload',
      'qris_image_url',
      'expires_at',
      'created_at',
      'updated_at',
    ]);
    expect(body.payment).toMatchObject({
      reference_id: expect.stringMatching(/^LN00[0-9A-HJKMNP-TV-Z]{16}$/),
      merchant_reference_id: 'ORDER-7',
      payment_method_code: 'qris',
      provider: 'gopay',
      currency: 'IDR',
      amount: 50_000,
      fee_amount: 350,
      net_amount: 49_650,
      total_amount: 50_000,
      status: 'pending',
      expires_at: expect.stringMatching(ISO),
    });
    const scan = await fetch(`${service.sandboxUrl}/simulator/scan`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ qris_payload: body.payment.qris_payload }),
    });
    expect(scan.status).toBe(200);
    await waitForStatus(service, body.payment.id, 'paid');
  });

  it('201: stores personal data encrypted', async () => {
    const canary = 'Rahasia Sekali';
    const { body } = await service.call('POST', '/payments', { amount: 1_000, customer: { name: canary } });
    const { rows } = await service.db.query(
      'select payments::text as payment, sealed from payments join payment_details on payment_id = id where id = $1',
      [body.payment.id],
    );
    expect(rows).toEqual([{ payment: expect.not.stringContaining(canary), sealed: expect.stringMatching(/^v1\./) }]);
    const history = await service.client.workflow.getHandle(`payment-${body.payment.id}`).fetchHistory();
    expect(JSON.stringify(history)).not.toContain(Buffer.from(canary).toString('base64').slice(0, 12));
  });

  it('201: shopeepay gets a QR of its own acquirer', async () => {
    const { status, body } = await service.call('POST', '/payments', { amount: 9_999, provider: 'shopeepay' });
    expect(status).toBe(201);
    expect(body.payment.provider).toBe('shopeepay');
    expect(body.payment.qris_payload).toContain('ID.CO.SHOPEE.WWW');
  });

  it('201: the same key and the same payment get the same bytes, even after it was paid', async () => {
    const key = { 'idempotency-key': 'order-42' };
    const first = await service.call('POST', '/payments', { amount: 50_000 }, key);
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    await service.pay(first.body.payment.reference_id);
    await waitForStatus(service, first.body.payment.id, 'paid');
    const again = await service.call('POST', '/payments', '{ "currency": "IDR", "amount": 50000 }', key);
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await service.atProvider(first.body.payment.reference_id)).toMatchObject({ charge_calls: 1 });
  });

  it('201: the same payment in another form: explicit defaults, null for absent, another order', async () => {
    const key = { 'idempotency-key': 'other-words' };
    const first = await service.call('POST', '/payments', { amount: 5_000, metadata: { a: 1, b: 2 } }, key);
    const spelledOut = { currency: 'IDR', payment_method: 'qris', provider: 'gopay', customer: null };
    const request = { metadata: { b: 2, a: 1 }, merchant_reference_id: null, ...spelledOut, amount: 5_000 };
    const again = await service.call('POST', '/payments', request, key);
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  it('201: expires_in, return_url and description hold for the payment and its checkout page', async () => {
    const returnUrl = 'https://fallback.example/?o={merchant_reference_id}';
    await changeMerchant(service.db, service.merchantId, { returnUrl, checkoutOrigins: ['https://shop.example'] });
    const own = {
      expires_in: 60,
      return_url: 'https://shop.example/o/7?s={merchant_reference_id}',
      description: 'Kopi susu, 2 gelas',
      merchant_reference_id: 'ORDER-7',
      metadata: { description: 'Teh tarik' },
    };
    const key = { 'idempotency-key': 'own-fields' };
    // The API reads a merchant again after half a second.
    const { body, headers } = await eventually(
      () => service.call('POST', '/payments', { amount: 5_000, ...own }, key),
      ({ status }) => status === 201,
    );
    const { created_at, expires_at } = body.payment;
    expect(Date.parse(expires_at) - Math.ceil(Date.parse(created_at) / 1_000) * 1_000).toBe(60_000);
    const { rows } = await service.providerDb.query('select expires_at from payments where order_id = $1', [
      body.payment.reference_id,
    ]);
    expect(rows).toEqual([{ expires_at: new Date(expires_at) }]);
    const shown = async () => (await fetch(/<([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? '')).text();
    const page = await shown();
    expect(page).toContain('Kopi susu, 2 gelas');
    expect(page).not.toContain('Teh tarik');
    expect(page).toContain('href="https://shop.example/o/7?s={merchant_reference_id}"');
    const history = await service.client.workflow.getHandle(`payment-${body.payment.id}`).fetchHistory();
    expect(JSON.stringify(history)).not.toContain(Buffer.from('Kopi susu').toString('base64').slice(0, 12));

    await changeMerchant(service.db, service.merchantId, { checkoutOrigins: [] });
    const without = await shown();
    expect(without).not.toContain('shop.example');
    expect(without).toContain('href="https://fallback.example/?o=ORDER-7"');
    await changeMerchant(service.db, service.merchantId, { returnUrl: null });
    const again = await service.call('POST', '/payments', { amount: 5_000, ...own }, key);
    expect([again.status, again.text]).toEqual([201, JSON.stringify(body)]);
    for (const change of [{ expires_in: 61 }, { return_url: null }, { description: 'Kopi' }]) {
      const other = await service.call('POST', '/payments', { amount: 5_000, ...own, ...change }, key);
      expect(other.headers.get('x-error-reason')).toBe('idempotency_key_reused');
    }
  });

  const expiresIn = 'expires_in must be an integer from 60 to 86400, in seconds.';
  const returnUrl = 'return_url must be an https URL of at most 500 characters.';
  const description = 'description must be a text of 1 to 140 characters without line breaks.';
  it.each<[fields: object, message: string]>([
    [{ expires_in: 59 }, expiresIn],
    [{ expires_in: 86_401 }, expiresIn],
    [{ expires_in: 90.5 }, expiresIn],
    [{ expires_in: '900' }, expiresIn],
    [{ return_url: '' }, returnUrl],
    [{ return_url: '/thanks' }, returnUrl],
    [{ return_url: 'http://shop.example/' }, returnUrl],
    [{ return_url: 'https://a:b@shop.example/' }, returnUrl],
    [{ return_url: 'https://shop.example/#top' }, returnUrl],
    [{ return_url: ' https://shop.example/' }, returnUrl],
    [{ return_url: 'javascript:alert(1)' }, returnUrl],
    [{ return_url: `https://shop.example/${'a'.repeat(480)}` }, returnUrl],
    [{ description: '' }, description],
    [{ description: 'a\nb' }, description],
    [{ description: 'a\u2028b' }, description],
    [{ description: 'a\u2029b' }, description],
    [{ description: 'a'.repeat(141) }, description],
    [{ description: 7 }, description],
  ])('400: %j', async (fields, message) => {
    const before = await countPayments();
    const single = await service.call('POST', '/payments', { amount: 5_000, ...fields });
    const bulk = await service.call('POST', '/payments', {
      payments: [{ amount: 1_000 }, { amount: 5_000, ...fields }],
    });
    const responses = [single, bulk].map(({ status, body, headers }) => [
      status,
      body.error.code,
      headers.get('x-error-reason'),
      body.error.message,
    ]);
    expect(responses).toEqual([
      [400, 'payment_create_failed', 'field_invalid', message],
      [400, 'payment_create_failed', 'field_invalid', `payments[1].${message}`],
    ]);
    expect(await countPayments()).toBe(before);
  });

  it('400: a return_url at an address that is not registered', async () => {
    const request = { amount: 5_000, return_url: 'https://other.example/back' };
    const { status, body, headers } = await service.call('POST', '/payments', request);
    expect([status, headers.get('x-error-reason')]).toEqual([400, 'return_url_not_allowed']);
    const message = 'return_url must be at an address of your shop: register https://other.example first.';
    expect(body.error.message).toBe(message);
    const bulk = await service.call('POST', '/payments', { payments: [{ amount: 1_000 }, request] });
    expect(bulk.body.error.message).toBe(`payments[1]: ${message}`);
  });

  it('201: emoji count as one character each, null is absent, a bulk has the fields for each item', async () => {
    const payments = [
      { amount: 1_000, expires_in: 86_400, description: '🍜'.repeat(140) },
      { amount: 1_000, expires_in: null, return_url: null, description: null },
    ];
    const { status, body } = await service.call('POST', '/payments?expand=description', { payments });
    expect(status).toBe(201);
    const [own, usual] = body.payments;
    expect([own.description, usual.description]).toEqual(['🍜'.repeat(140), null]);
    const seconds = (Date.parse(own.expires_at) - Date.parse(usual.expires_at)) / 1_000;
    expect(Math.abs(seconds - 85_500)).toBeLessThanOrEqual(1);
  });

  it('the digest of a request is stable, since every later version compares stored ones', () => {
    const digest = (request: object) => digestOf(toNewPayment(paymentRequestSchema.parse(request)));
    expect(digest({ amount: 5_000 })).toBe('2acf1d46cc361f01ffbe584ff6e5f11a798d19cdbef2bea14b2690ea5916fd78');
    expect(
      digest({
        amount: 5_000,
        merchant_reference_id: 'A',
        customer: { name: 'Siti' },
        metadata: { b: 1, a: 'x' },
      }),
    ).toBe('1bb096e2e05b4a18094c95338bf7b9a44017d960e1f8d512c86e0a3ec4162322');
    expect(digest({ amount: 5_000, expires_in: 60, return_url: 'https://shop.example/', description: 'Kopi' })).toBe(
      '673c2cfd6edbe1b6a99865ce9d748ab1949fb6fe5c820fa318fa80499a418386',
    );
  });

  it('201: fifty concurrent requests with one key create one payment and one charge and get one response', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () =>
        service.call('POST', '/payments', { amount: 12_345 }, { 'idempotency-key': 'concurrent' }),
      ),
    );
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(201);
    expect(await service.atProvider(responses[0]?.body.payment.reference_id)).toMatchObject({ charge_calls: 1 });
  });

  it('400 payment_create_failed: rejected by the provider, also for every repeat and in a bulk', async () => {
    await service.injectFault('charge', 'reject');
    const key = { 'idempotency-key': 'rejected' };
    const first = await service.call('POST', '/payments', { amount: 5_000 }, key);
    expect([first.status, first.body.error.code]).toEqual([400, 'payment_create_failed']);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const again = await service.call('POST', '/payments', { amount: 5_000 }, key);
    expect([again.status, again.text]).toEqual([400, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const payments = [{ amount: 5_000, idempotency_key: 'rejected' }, { amount: 6_000 }];
    const bulk = await service.call('POST', '/payments', { payments });
    expect(bulk.body.payments[0]).toMatchObject({ status: 'failed', error: first.body.error });
  });

  it('400 payment_create_failed: the same key with another payment', async () => {
    const key = { 'idempotency-key': 'order-43' };
    await service.call('POST', '/payments', { amount: 50_000 }, key);
    const { status, body } = await service.call('POST', '/payments', { amount: 50_001 }, key);
    expect([status, body.error.code]).toEqual([400, 'payment_create_failed']);
    expect(body.error.message).toMatch(/idempotency key/i);
  });

  it.each([
    ['currency', 'must be IDR', 'IDR '],
    ['provider', 'must be gopay or shopeepay', 7],
    ['merchant_reference_id', 'must be a string of at most 64 characters', 7],
    ['merchant_reference_id', 'must be a string of at most 64 characters', 'x'.repeat(65)],
    ['customer', 'must be an object', 'Siti'],
    ['customer', 'must be an object', ['Siti']],
    ['customer.name', 'must be a string of at most 100 characters', { name: 'x'.repeat(101) }],
    ['customer.email', 'must be a string of at most 254 characters', { email: 1 }],
    ['customer.phone', 'must be a string of at most 32 characters', { phone: 'x'.repeat(33) }],
    ['customer.street', 'must be a string of at most 500 characters', { street: {} }],
    ['metadata', 'must be an object', []],
    ['metadata.a', 'must be a string of at most 500 characters, a number or a boolean', { a: null }],
    ['metadata.a', 'must be a string of at most 500 characters', { a: 'x'.repeat(501) }],
    [`metadata.${'k'.repeat(41)}`, 'has a key of more than 40 characters', { ['k'.repeat(41)]: 1 }],
    [
      'metadata',
      'must have at most 50 keys',
      Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, index])),
    ],
  ])('400 payment_create_failed, alone and in a bulk: %s %s', async (field, rule, value) => {
    const request = { amount: 5_000, [field.split('.')[0] ?? '']: value };
    const { status, body } = await service.call('POST', '/payments', request);
    expect([status, body.error]).toEqual([400, { code: 'payment_create_failed', message: `${field} ${rule}.` }]);
    const isOfAll = field === 'provider';
    const bulk = await service.call('POST', '/payments', {
      ...(isOfAll && { provider: value }),
      payments: [{ amount: 5_000 }, request],
    });
    const at = isOfAll ? 'payments[0].' : 'payments[1].';
    expect(bulk.body.error).toEqual({ code: 'payment_create_failed', message: `${at}${field} ${rule}.` });
  });

  it('201: counts Unicode characters in every field', async () => {
    const full = {
      amount: 5_000,
      merchant_reference_id: '💸'.repeat(64),
      customer: { name: '💸'.repeat(100), email: 'é'.repeat(254), phone: '1'.repeat(32), street: 'x'.repeat(500) },
      metadata: Object.fromEntries(
        Array.from({ length: 50 }, (_, index) => [`${index}`.padStart(2, '0') + '💸'.repeat(38), 'x'.repeat(500)]),
      ),
    };
    const { status, body } = await service.call('POST', '/payments', full);
    expect([status, body.payment?.merchant_reference_id]).toEqual([201, full.merchant_reference_id]);
    const { body: more } = await service.call('POST', '/payments', { ...full, merchant_reference_id: '💸'.repeat(65) });
    expect(more.error.message).toBe('merchant_reference_id must be a string of at most 64 characters.');
  });

  it('400 payment_create_failed: a number out of range', async () => {
    const { status, body } = await service.call('POST', '/payments', '{"amount":5000,"metadata":{"a":1e999}}');
    expect([status, body.error?.message]).toEqual([400, expect.stringMatching(/^metadata\.a must be /)]);
  });

  it.each([
    ['no body', '', 'invalid_json'],
    ['broken JSON', '{"amount":', 'invalid_json'],
    ['an array', '[]', 'invalid_json'],
    ['a duplicate key', '{"amount":1000,"amount":1000}', 'invalid_json'],
    ['a NUL', '{"amount":1000,"merchant_reference_id":"a\\u0000"}', 'invalid_json'],
    ['a lone surrogate', '{"amount":1000,"merchant_reference_id":"\\ud800"}', 'invalid_json'],
    ['49,000 levels', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'invalid_json'],
    ['no amount', '{}', 'invalid_amount'],
    ['amount 0', '{"amount":0}', 'invalid_amount'],
    ['a negative amount', '{"amount":-5}', 'invalid_amount'],
    ['amount 1.0', '{"amount":1.0}', 'invalid_amount'],
    ['amount 1e3', '{"amount":1e3}', 'invalid_amount'],
    ['amount -0', '{"amount":-0}', 'invalid_amount'],
    ['an amount in quotes', '{"amount":"1000"}', 'invalid_amount'],
    ['an amount beyond 2^53', '{"amount":9007199254740993}', 'invalid_amount'],
    ['an amount above the QRIS limit', '{"amount":10000001}', 'invalid_amount'],
    ['an amount below its fee', '{"amount":1}', 'payment_create_failed'],
    ['another currency', '{"amount":1000,"currency":"USD"}', 'payment_create_failed'],
    ['another method', '{"amount":1000,"payment_method":"card"}', 'unsupported_payment_method'],
    ['an unknown provider', '{"amount":1000,"provider":"dana"}', 'payment_create_failed'],
    ['a long reference', `{"amount":1000,"merchant_reference_id":"${'x'.repeat(65)}"}`, 'payment_create_failed'],
    ['customer as a text', '{"amount":1000,"customer":"Siti"}', 'payment_create_failed'],
    ['nested metadata', '{"amount":1000,"metadata":{"a":{"b":1}}}', 'payment_create_failed'],
    ['a body of 70 kB', JSON.stringify({ amount: 1_000, x: 'x'.repeat(70_000) }), 'invalid_json'],
  ])('400: %s is %s and creates nothing', async (_name, body, code) => {
    const before = await countPayments();
    const response = await service.call('POST', '/payments', body);
    expect([response.status, response.body]).toEqual([400, { error: { code, message: expect.any(String) } }]);
    expect(await countPayments()).toBe(before);
  });

  it.each([
    ['{}', 'amount is missing: it must be an integer from 1 to 10000000, written as plain digits.'],
    ['{"amount":1.0}', 'amount must be an integer from 1 to 10000000, written as plain digits.'],
    ['{"amount":10000001}', 'amount must be an integer from 1 to 10000000, written as plain digits.'],
    [
      '{"amount":"50000"}',
      'amount must be an integer from 1 to 10000000, written as plain digits without quotes: "amount": 50000.',
    ],
  ])('400 invalid_amount: %s has the message %s', async (body, message) => {
    expect((await service.call('POST', '/payments', body)).body).toEqual({
      error: { code: 'invalid_amount', message },
    });
  });

  it('400 invalid_json: bytes that are not UTF-8, and a content type that is not JSON', async () => {
    for (const [contentType, body] of [
      ['application/json', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
      ['text/plain', '{"amount":1000}'],
    ] as const) {
      const response = await fetch(`${service.apiUrl}/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': contentType },
        body,
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_json' } });
    }
  });

  it('400 invalid_json: a body that does not match its Content-Encoding', async () => {
    const encoded = { 'content-encoding': 'gzip' };
    const { status, body } = await service.call('POST', '/payments', '{"amount":1000}', encoded);
    expect([status, body.error.code]).toEqual([400, 'invalid_json']);
  });

  it('an Idempotency-Key that a proxy repeats is one key, and two keys are rejected', async () => {
    const create = (...keys: string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${service.secretKey}`,
          'content-type': 'application/json',
          'idempotency-key': keys,
        };
        const sent = request(`${service.apiUrl}/payments`, { method: 'POST', headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        sent.on('error', reject).end(JSON.stringify({ amount: 1_000 }));
      });
    const before = await countPayments();
    expect(await create('by-proxy')).toBe(201);
    expect(await create('by-proxy', 'by-proxy')).toBe(201);
    expect(await create('by-proxy', 'another')).toBe(400);
    expect(await countPayments()).toBe(before + 1);
  });

  it('400 payment_create_failed: an idempotency key that is empty or too long', async () => {
    for (const key of ['', 'k'.repeat(256)]) {
      const { status, body } = await service.call('POST', '/payments', { amount: 1_000 }, { 'idempotency-key': key });
      expect([status, body.error.code]).toEqual([400, 'payment_create_failed']);
    }
  });

  it('500 server_error: without a worker, and the same key gets its payment when the worker is back', async () => {
    await service.stopWorker();
    const key = { 'idempotency-key': 'patience' };
    const rejected = await service.call('POST', '/payments', { amount: 7_000 }, key);
    expect([rejected.status, rejected.body.error.code]).toEqual([500, 'server_error']);
    expect(rejected.body.error.message).toContain(rejected.headers.get('x-request-id'));
    const rejectedAtMs = Date.now();
    await service.startWorker();
    const { status, body } = await service.call('POST', '/payments', { amount: 7_000 }, key);
    expect([status, body.payment.status]).toEqual([201, 'pending']);
    // The first request set its deadline: in PostgreSQL, in the workflow and at the provider.
    const report = await service.workflows.queryStatus(body.payment.id);
    expect(report?.expiresAt).toBe(body.payment.expires_at);
    expect(Date.parse(body.payment.created_at)).toBeLessThan(rejectedAtMs);
    expect(await service.atProvider(body.payment.reference_id)).toMatchObject({ charge_calls: 1 });
  });
});
