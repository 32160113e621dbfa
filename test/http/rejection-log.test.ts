import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createSealer } from '../../src/crypto/sealing';
import { createSecretKey } from '../../src/crypto/secret-key';
import { addAccount } from '../../src/services/provider-accounts/provider-accounts';
import { IN_FORCE_AFTER_MS, startTestApis, type TestApis, type TestKey } from '../support/api';
import { revokeAsOperator } from '../support/keys';
import { signedNotification } from '../support/notification';
import { seedPayments } from '../support/seed-payments';

const masterKey = randomBytes(32).toString('base64');
const UNKNOWN_ID = '01935b6c-7c00-7000-8000-000000000000';

let apis: TestApis;
let url: string;
let key: TestKey;
let otherPaymentId: string;
let otherMerchantId: string;
let accountId: string;
beforeAll(async () => {
  apis = await startTestApis([{ masterKey }]);
  url = apis.urls[0] ?? '';
  const other = await apis.newKey();
  [key, otherMerchantId] = [await apis.newKey(), other.merchantId];
  const seed = { count: 3, from: '2026-11-01T00:00:00.000Z', rareOneIn: 3, sameReference: 1 };
  await seedPayments(apis.db, otherMerchantId, seed);
  otherPaymentId = (await apis.db.query<{ id: string }>('select id from payments limit 1')).rows[0]?.id ?? '';
  const account = {
    provider: 'gopay',
    adapter: 'midtrans',
    serverKey: 'k',
    weight: 1,
    environment: 'sandbox',
  } as const;
  ({ id: accountId } = await addAccount(apis.db, createSealer(masterKey), account));
});
afterAll(() => apis.close());

const lineSchema = z.object({ requestId: z.string(), code: z.string().optional(), reason: z.string().optional() });

interface Rejection {
  /** Status and body. */
  readonly response: string;
  readonly code: string | undefined;
  readonly reason: string | undefined;
}

/** Sends a request and reads its line in the log. */
async function rejected(path: string, init: RequestInit = {}): Promise<Rejection> {
  const response = await fetch(url + path, init);
  const text = await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  const lines = apis
    .logged()
    .split('\n')
    .filter((line) => line.includes(id));
  expect(lines).toHaveLength(1);
  const { code, reason } = lineSchema.parse(JSON.parse(lines[0] ?? ''));
  return { response: `${response.status} ${text}`, code, reason };
}

const withKey = (secret: string, headers = {}) => ({ headers: { authorization: `Bearer ${secret}`, ...headers } });
const get = (path: string, secret = key.secret) => rejected(path, withKey(secret));
const post = (body: string, secret = key.secret) =>
  rejected('/payments', { method: 'POST', body, ...withKey(secret, { 'content-type': 'application/json' }) });
const notify = (account: string, body: unknown) =>
  rejected(`/provider-notifications/${account}`, { method: 'POST', body: JSON.stringify(body) });

/** The responses are equal, and each has a reason of its own in the log. */
function expectDistinguishedInLogOnly(rejections: readonly Rejection[], reasons: readonly RegExp[]): void {
  expect(new Set(rejections.map(({ response }) => response)).size).toBe(1);
  expect(rejections.map(({ reason }) => reason)).toEqual(reasons.map((reason) => expect.stringMatching(reason)));
  for (const { response, code, reason } of rejections) {
    expect(response).toContain(`"${code}"`);
    expect(response).not.toContain(reason);
  }
}

describe('the log of a rejected request', () => {
  it('404: distinguishes an unknown payment from one of another merchant', async () => {
    for (const suffix of ['', '/qris']) {
      expectDistinguishedInLogOnly(
        [await get(`/payments/${UNKNOWN_ID}${suffix}`), await get(`/payments/${otherPaymentId}${suffix}`)],
        [/^unknown payment$/, new RegExp(`^payment of merchant ${otherMerchantId}$`)],
      );
      expect(await get(`/payments/x${suffix}`)).toMatchObject({ reason: 'neither a UUID nor a reference_id' });
    }
  });

  it('404: distinguishes an unknown provider account and a wrong signature', async () => {
    const notification = signedNotification('LN0000000000000000');
    expectDistinguishedInLogOnly(
      [await notify(randomUUID(), notification), await notify(accountId, notification)],
      [/^unknown provider account$/, new RegExp(`^invalid signature for provider account ${accountId}$`)],
    );
  });

  it('401: distinguishes a malformed key from an invalid one, and shows no key', async () => {
    const revoked = await apis.newKey();
    const unknown = createSecretKey('sandbox', '00').secret;
    await revokeAsOperator(apis.db, revoked.id);
    await sleep(IN_FORCE_AFTER_MS);
    expectDistinguishedInLogOnly(
      [
        await get('/transactions', 'sk_test_x'),
        await get('/transactions', unknown),
        await get('/transactions', revoked.secret),
      ],
      [/^malformed key$/, /^unknown, revoked or expired key$/, /^unknown, revoked or expired key$/],
    );
    expect(apis.logged()).not.toContain(unknown);
    const other = createSecretKey('production', '00').secret;
    expect(await rejected('/transactions')).toMatchObject({ reason: 'no key' });
    expect(await rejected('/transactions', { headers: { authorization: 'Basic abc' } })).toMatchObject({
      reason: 'no bearer key',
    });
    expect(await get('/transactions', other)).toMatchObject({ reason: 'a key for production' });
    expect(apis.logged()).not.toContain(other);
  });

  it('403 and 429: names the address, the merchant and the key', async () => {
    const bound = await apis.newKey({ allowedNetworks: ['203.0.113.0/24'] });
    expect((await get('/transactions', bound.secret)).reason).toContain(
      `address 127.0.0.1 is not allowed for key ${bound.id}`,
    );
    const pending = await apis.newKey({ approve: false });
    expect((await get('/transactions', pending.secret)).reason).toBe(`merchant ${pending.merchantId} is pending`);
    const limited = await apis.newKey();
    await apis.db.query('insert into rate_limits values ($1, 1000000, $2)', [limited.merchantId, Date.now() + 60_000]);
    expect((await get('/transactions', limited.secret)).reason).toBe(`rate limit of merchant ${limited.merchantId}`);
  });

  it('400: names the rule, and contains nothing of the body', async () => {
    const secretText = 'siti@example.com';
    expect(await post(`{"amount": ${secretText}`)).toMatchObject({ code: 'invalid_json', reason: 'not JSON' });
    expect(await post(`{"${secretText}":1,"${secretText}":1}`)).toMatchObject({ reason: 'duplicate key' });
    expect(await post('{"amount":0}')).toMatchObject({
      code: 'invalid_amount',
      reason: expect.stringMatching(/^amount /),
    });
    const customer = await post(`{"amount":5000,"customer":{"${secretText}":1}}`);
    expect(customer).toMatchObject({ code: 'payment_create_failed', reason: expect.stringMatching(/^customer /) });
    expect(customer.response).toContain(secretText);
    expect(apis.logged()).not.toContain(secretText);
  });

  it('404: a path without an endpoint', async () => {
    expect(await get('/nothing')).toMatchObject({ code: 'not_found', reason: 'no such path' });
    expect(await get('/%ff')).toMatchObject({ code: 'not_found', reason: 'no such path' });
  });

  it('contains no reason after a success', async () => {
    expect(await get('/transactions')).toMatchObject({ code: undefined, reason: undefined });
  });
});
