import { changeMerchant } from '../../../src/services/merchants/merchants';
import { createTestLink, pressButton } from '../../support/payment-links';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await service.db.query("update merchants set checkout_origins = '{https://shop.example}' where id = $1", [
    service.merchantId,
  ]);
});
afterAll(() => service.close());

const INVOICE = { kind: 'once', title: 'Invoice 1042', amount: 50_000 };
const post = (body: unknown, headers = {}) => service.call('POST', '/payment-links', body, headers);
const inHours = (hours: number) => `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)}Z`;

describe('POST /payment-links', () => {
  it('201: a link, and its repeat as the link is now', async () => {
    const key = { 'idempotency-key': 'link-1' };
    const made = await post(INVOICE, key);
    expect([made.status, made.body.payment_link]).toEqual([
      201,
      expect.objectContaining({ kind: 'once', status: 'active', amount: 50_000, minimum_amount: null, paid_count: 0 }),
    ]);
    expect(made.body.payment_link.url).toMatch(/\/link\/[\w-]{43}$/);
    expect(made.body.payment_link.reference_id).toMatch(/^LK\w{16,18}$/);
    await service.call('POST', `/payment-links/${made.body.payment_link.id}/close`);
    const repeated = await post(INVOICE, key);
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(repeated.body.payment_link).toMatchObject({ id: made.body.payment_link.id, status: 'closed' });
  });

  it('an open amount has the usual bounds', async () => {
    const { body } = await post({ kind: 'reusable', title: 'Donation' });
    expect(body.payment_link).toMatchObject({ amount: null, minimum_amount: 1_000, maximum_amount: 10_000_000 });
  });

  it('a link has the key of its own: a payment with the same key is another object', async () => {
    const key = { 'idempotency-key': 'shared' };
    expect((await service.call('POST', '/payments', { amount: 20_000 }, key)).status).toBe(201);
    expect((await post(INVOICE, key)).status).toBe(201);
  });

  it.each([
    ['kind', { ...INVOICE, kind: 'twice' }],
    ['kind', { title: 'x', amount: 1 }],
    ['title', { ...INVOICE, title: '' }],
    ['title', { ...INVOICE, title: 'x'.repeat(101) }],
    ['title', { ...INVOICE, title: 'two\nlines' }],
    ['amount', { ...INVOICE, amount: 0 }],
    ['amount', { ...INVOICE, amount: 10_000_001 }],
    ['amount', { ...INVOICE, amount: '50000' }],
    ['minimum_amount', { ...INVOICE, minimum_amount: 1 }],
    ['maximum_amount', { ...INVOICE, maximum_amount: 1 }],
    ['minimum_amount', { kind: 'once', title: 'x', minimum_amount: 2, maximum_amount: 1 }],
    ['provider', { ...INVOICE, provider: 'dana' }],
    ['merchant_reference_id', { ...INVOICE, merchant_reference_id: 'x'.repeat(65) }],
    ['expires_at', { ...INVOICE, expires_at: 'tomorrow' }],
    ['expires_at', { ...INVOICE, expires_at: '2026-12-24T08:00:00.500Z' }],
    ['expires_at', { ...INVOICE, expires_at: inHours(4 / 60) }],
    ['expires_at', { ...INVOICE, expires_at: inHours(367 * 24) }],
    ['payment_expires_in', { ...INVOICE, payment_expires_in: 59 }],
    ['payment_expires_in', { ...INVOICE, payment_expires_in: 86_401 }],
    ['return_url', { ...INVOICE, return_url: 'http://shop.example/' }],
    ['return_url', { ...INVOICE, return_url: 'https://shop.example/#part' }],
  ])('400 invalid_parameter names %s: %j', async (name, body) => {
    const { status, body: response } = await post(body);
    expect([status, response.error.code]).toEqual([400, 'invalid_parameter']);
    expect(response.error.message).toContain(name);
  });

  it.each([
    ['return_url_not_allowed', { ...INVOICE, return_url: 'https://other.example/' }, {}],
    // Each visitor would read that the shop cannot take payments.
    ['fee_reaches_amount', { ...INVOICE, amount: 1 }, {}],
    ['idempotency_key_invalid', INVOICE, { 'idempotency-key': 'x'.repeat(256) }],
  ])('400 invalid_parameter with the reason %s', async (reason, body, headers) => {
    const response = await post(body, headers);
    expect([response.status, response.body.error.code]).toEqual([400, 'invalid_parameter']);
    expect(response.headers.get('x-error-reason')).toBe(reason);
  });

  it('400: the same key with another link', async () => {
    const key = { 'idempotency-key': 'reused' };
    const changes = [
      { kind: 'reusable' },
      { title: 'Invoice 1043' },
      { amount: 50_001 },
      { provider: 'shopeepay' },
      { merchant_reference_id: 'ORDER-1' },
      { expires_at: inHours(1) },
      { payment_expires_in: 900 },
      { return_url: 'https://shop.example/thanks' },
    ];
    await post(INVOICE, key);
    for (const change of changes) {
      const response = await post({ ...INVOICE, ...change }, key);
      expect([change, response.status, response.headers.get('x-error-reason')]).toEqual([
        change,
        400,
        'idempotency_key_reused',
      ]);
    }
    const open = { kind: 'reusable', title: 'Donation' };
    const keyOfOpen = { 'idempotency-key': 'reused-open' };
    await post(open, keyOfOpen);
    for (const change of [{ minimum_amount: 1_001 }, { maximum_amount: 9_999_999 }]) {
      const response = await post({ ...open, ...change }, keyOfOpen);
      expect(response.headers.get('x-error-reason')).toBe('idempotency_key_reused');
    }
  });

  it('400: a provider that is not enabled', async () => {
    const { id, secretKey } = await createSecondMerchant(service.db);
    await changeMerchant(service.db, id, { providers: ['gopay'] });
    const headers = { authorization: `Bearer ${secretKey}` };
    const response = await post({ ...INVOICE, provider: 'shopeepay' }, headers);
    expect([response.status, response.headers.get('x-error-reason')]).toEqual([400, 'provider_not_enabled']);
  });

  it('the header names fields that no rule reads', async () => {
    expect((await post({ ...INVOICE, quantity: 3 })).headers.get('x-ignored-fields')).toBe('quantity');
  });

  it('takes an end, a return URL, and the bounds of the other values', async () => {
    const body = { ...INVOICE, expires_at: inHours(1), return_url: 'https://shop.example/thanks' };
    expect((await post(body)).body.payment_link).toMatchObject({ return_url: body.return_url, status: 'active' });
    const bounds = [
      { amount: 2, payment_expires_in: 60 },
      { amount: 10_000_000, payment_expires_in: 86_400, merchant_reference_id: 'x'.repeat(64) },
      { amount: null, minimum_amount: 5, maximum_amount: 5, title: '😀'.repeat(100) },
    ];
    for (const terms of bounds) {
      expect((await post({ ...INVOICE, ...terms })).body.payment_link).toMatchObject(terms);
    }
  });
});

describe('one link, and the list', () => {
  it('a link is found by both of its ids, and closed once', async () => {
    const { id, referenceId } = await createTestLink(service);
    expect((await service.call('GET', `/payment-links/${id}`)).body.payment_link.reference_id).toBe(referenceId);
    const closed = await service.call('POST', `/payment-links/${referenceId}/close`);
    expect([closed.status, closed.body.payment_link.status]).toEqual([200, 'closed']);
    expect((await service.call('POST', `/payment-links/${id}/close`)).body).toEqual(closed.body);
  });

  it('404: the link of another merchant', async () => {
    const { id } = await createTestLink(service);
    const { secretKey } = await createSecondMerchant(service.db);
    const headers = { authorization: `Bearer ${secretKey}` };
    for (const [method, path] of [
      ['GET', `/payment-links/${id}`],
      ['POST', `/payment-links/${id}/close`],
    ] as const) {
      const response = await service.call(method, path, undefined, headers);
      expect([response.status, response.headers.get('x-error-reason')]).toEqual([404, 'payment_link_unknown']);
    }
    expect((await service.call('GET', '/payment-links', undefined, headers)).body.payment_links).toEqual([]);
  });

  it('the list is newest first, by pages, and filtered by status', async () => {
    const made = [await createTestLink(service), await createTestLink(service), await createTestLink(service)];
    await service.call('POST', `/payment-links/${made[1]?.id}/close`);
    const first = await service.call('GET', '/payment-links?status=active&limit=1');
    expect(first.body.payment_links.map(({ id }: { id: string }) => id)).toEqual([made[2]?.id]);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const { pathname, search } = new URL(next);
    const second = await service.call('GET', `${pathname}${search}`);
    expect(second.body.payment_links.map(({ id }: { id: string }) => id)).toEqual([made[0]?.id]);
    expect((await service.call('GET', '/payment-links?status=open')).status).toBe(400);
  });
});

it('a payment names its link, and the list of payments is filtered by it', async () => {
  const link = await createTestLink(service);
  expect((await pressButton(link)).status).toBe(303);
  const { transactions } = (
    await service.call('GET', `/transactions?payment_link=${link.referenceId}&expand=payment_link,description`)
  ).body;
  expect(transactions).toHaveLength(1);
  expect(transactions[0]).toMatchObject({
    payment_link: { id: link.id, reference_id: link.referenceId, url: link.url },
    description: 'Invoice 1042',
  });
  const other = await service.call('POST', '/payments?expand=payment_link', { amount: 20_000 });
  expect(other.body.payment.payment_link).toBeNull();
  expect((await service.call('GET', '/transactions?payment_link=LN1')).status).toBe(400);
});
