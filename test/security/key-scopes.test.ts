import { setTimeout as sleep } from 'node:timers/promises';
import { MERCHANT_ENDPOINTS } from '../../src/servers/api-routes';
import { listKeys } from '../../src/services/merchants/keys/api-key';
import { callApi, IN_FORCE_AFTER_MS, sendRequest, startTestApis, type TestApis } from '../support/api';
import { eventually } from '../support/eventually';

const UNKNOWN_ID = '01935b6c-7c00-7000-8000-000000000000';
const ALL_SCOPES = ['read', 'create', 'cancel', 'refund'] as const;

/** What each route needs, beside the table in the routes: a route with another scope is a change of the contract. */
const SCOPES_BY_ROUTE: Readonly<Record<string, string>> = {
  'post /payments': 'create',
  'get /payments/:id': 'read',
  'get /payments/:id/qris': 'read',
  'post /payments/:id/cancel': 'cancel',
  'post /transactions/:id/cancel': 'cancel',
  'post /payments/:id/refund': 'refund',
  'get /transactions': 'read',
  'post /payment-links': 'create',
  'get /payment-links/:id': 'read',
  'post /payment-links/:id/close': 'create',
  'get /payment-links': 'read',
};

let apis: TestApis;
let url: string;
beforeAll(async () => {
  apis = await startTestApis([{}, {}]);
  url = apis.urls[0] ?? '';
});
afterAll(() => apis.close());

/** The routes that the key may call. The body is rejected after the check of the key. */
async function allowedRoutes(secret: string): Promise<string[]> {
  const outcomes = await Promise.all(
    MERCHANT_ENDPOINTS.map(async ({ method, path }) => {
      const { status, code, message } = await sendRequest(url + path.replace(':id', UNKNOWN_ID), {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      });
      if (status !== 403) return [`${method} ${path}`];
      expect(code).toBe('scope_not_allowed');
      expect(message).toMatch(/^The key does not have the scope "\w+"\.$/);
      return [];
    }),
  );
  return outcomes.flat();
}

describe('a leaked key with scopes', () => {
  it.each(ALL_SCOPES.map((scope) => [scope]))('%s: can call the routes of this scope and no other', async (scope) => {
    const { secret } = await apis.newKey({ scopes: [scope] });
    const expected = Object.keys(SCOPES_BY_ROUTE).filter((route) => SCOPES_BY_ROUTE[route] === scope);
    expect(await allowedRoutes(secret)).toEqual(expected);
  });

  it('several scopes: can call the routes of each of them', async () => {
    const { secret } = await apis.newKey({ scopes: ['read', 'create'] });
    const routes = Object.keys(SCOPES_BY_ROUTE).filter((route) =>
      /^(?:read|create)$/.test(SCOPES_BY_ROUTE[route] ?? ''),
    );
    expect(await allowedRoutes(secret)).toEqual(routes);
  });

  it('no scopes: can call every route, as the contract requires', async () => {
    const { secret } = await apis.newKey();
    expect(await allowedRoutes(secret)).toEqual(Object.keys(SCOPES_BY_ROUTE));
  });
});

it('a key is not accepted after its expiry, on any process', async () => {
  const { id, secret } = await apis.newKey({ expiresAt: new Date(Date.now() + 3_600_000) });
  for (const apiUrl of apis.urls) expect((await callApi(apiUrl, secret)).status).toBe(404);
  await apis.db.query('update api_keys set expires_at = now() where id = $1', [id]);
  await sleep(IN_FORCE_AFTER_MS);
  for (const apiUrl of apis.urls) {
    expect(await callApi(apiUrl, secret)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  }
});

describe('the last use of a key', () => {
  it('the last use of a key is recorded, and written at most once a minute by all processes', async () => {
    const { id, merchantId, secret } = await apis.newKey();
    const lastUsedAt = async () => (await listKeys(apis.db, merchantId))[0]?.lastUsedAt ?? null;
    expect(await lastUsedAt()).toBeNull();
    await callApi(url, secret);
    const first = await eventually(lastUsedAt, (timestamp) => timestamp !== null);
    const version = async () =>
      (await apis.db.query<{ xmin: string }>('select xmin::text from api_keys where id = $1', [id])).rows[0]?.xmin;
    const before = await version();
    for (const apiUrl of apis.urls) for (let count = 0; count < 5; count += 1) await callApi(apiUrl, secret);
    // A later statement of the same pool: an update of the requests above would be done by now.
    await sleep(IN_FORCE_AFTER_MS);
    expect([await version(), await lastUsedAt()]).toEqual([before, first]);
  });

  it('a locked row does not delay the request that uses its key', async () => {
    const { id, secret } = await apis.newKey();
    const holder = await apis.db.connect();
    try {
      await holder.query('begin');
      await holder.query('select from api_keys where id = $1 for update', [id]);
      expect((await callApi(url, secret)).status).toBe(404);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  it('a rejected key has no last use', async () => {
    const { id, merchantId, secret } = await apis.newKey({ allowedNetworks: ['203.0.113.0/24'] });
    expect((await callApi(url, secret)).status).toBe(403);
    await sleep(IN_FORCE_AFTER_MS);
    expect(await listKeys(apis.db, merchantId)).toMatchObject([{ id, lastUsedAt: null }]);
  });
});
