import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../src/local-stack/ports';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { seedDemo } from '../../src/services/sandbox/seed-demo';
import { callApi, sendRequest, startTestApis, type ApiResult, type TestApis } from '../support/api';
import { eventually } from '../support/eventually';
import { issueKey } from '../support/keys';

const ITEMS = 50;

function post(url: string, secret: string, body: unknown): Promise<ApiResult> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return sendRequest(`${url}/payments`, { method: 'POST', headers, body: JSON.stringify(body) });
}

function postBulk(url: string, secret: string, items = ITEMS): Promise<ApiResult> {
  return post(url, secret, { payments: Array.from({ length: items }, () => ({ amount: 10_000 })) });
}

const remaining = ({ headers }: ApiResult) => Number(headers.get('ratelimit-remaining'));

describe('a merchant cannot take the service by bulks', () => {
  const LIMIT = 120;
  const SMALL_LIMIT = 10;
  let apis: TestApis;
  let url: string;
  let smallUrl: string;
  beforeAll(async () => {
    apis = await startTestApis([{ requestsPerMinute: LIMIT }, { requestsPerMinute: SMALL_LIMIT }]);
    [url = '', smallUrl = ''] = apis.urls;
  });
  afterAll(() => apis.close());

  it('a bulk of 50 items counts as 50 requests', async () => {
    const { secret } = await apis.newKey();
    const before = remaining(await callApi(url, secret));
    expect(remaining(await postBulk(url, secret))).toBe(before - ITEMS);
  });

  it('429 before any item is created if the items do not fit; the rest stays usable', async () => {
    const { secret } = await apis.newKey();
    await postBulk(url, secret);
    await postBulk(url, secret);
    const rejected = await postBulk(url, secret);
    expect([rejected.status, rejected.code, remaining(rejected)]).toEqual([429, 'rate_limited', LIMIT - 2 * ITEMS - 1]);
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(rejected.message).toContain('A bulk counts as one request for each item.');
    expect((await callApi(url, secret)).status).toBe(404);
  });

  it('a bulk of more items than the limit takes the whole limit, and is possible only if nothing is used', async () => {
    const { secret } = await apis.newKey();
    const bulk = await postBulk(smallUrl, secret);
    expect([bulk.code, remaining(bulk)]).toEqual(['payment_create_failed', 0]);
    expect((await postBulk(smallUrl, secret)).code).toBe('rate_limited');
    const { secret: used } = await apis.newKey();
    await callApi(smallUrl, used);
    expect((await postBulk(smallUrl, used)).code).toBe('rate_limited');
  });
});

describe('a merchant cannot take more by many keys', () => {
  async function flood(apis: TestApis, url: string, keys: number, each: number): Promise<number[]> {
    const first = await apis.newKey();
    const { merchantId } = first;
    const secrets = [first.secret];
    while (secrets.length < keys) {
      secrets.push((await issueKey(apis.db, { merchantId, environment: 'sandbox', allowedNetworks: [] })).secret);
    }
    return Promise.all(
      secrets.map(async (secret) => {
        const results = await Promise.all(Array.from({ length: each }, () => callApi(url, secret)));
        return results.filter(({ status }) => status === 404).length;
      }),
    );
  }
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

  it('all keys of a merchant share a limit, by default that of one key', async () => {
    const apis = await startTestApis([{ requestsPerMinute: 30 }]);
    expect(total(await flood(apis, apis.urls[0] ?? '', 3, 20))).toBe(30);
    await apis.close();
  });

  it('two limits count for a merchant with a larger one, and the headers report the smaller rest', async () => {
    const apis = await startTestApis([{ requestsPerMinute: 30, merchantRequestsPerMinute: 50 }]);
    const [url = ''] = apis.urls;
    const counts = await flood(apis, url, 3, 40);
    expect(total(counts)).toBe(50);
    expect(Math.max(...counts)).toBeLessThanOrEqual(30);
    const { headers } = await callApi(url, (await apis.newKey()).secret);
    expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['30', '29']);
    await apis.close();
  });
});

describe('a merchant cannot fill the API with creations that wait', () => {
  const masterKey = randomBytes(32).toString('base64');
  let temporal: Server;
  const connections = new Set<Socket>();
  let apis: TestApis;
  let secret: string;
  beforeAll(async () => {
    // Accepts connections and never responds.
    const port = await freePort();
    temporal = createServer((socket) => connections.add(socket)).listen(port, '127.0.0.1');
    await once(temporal, 'listening');
    const target = { address: `127.0.0.1:${port}`, namespace: 'none', security: {} };
    apis = await startTestApis([{ temporal: target, masterKey, maxCreatesInFlight: 96 }]);
    const sandbox = { sandboxUrl: 'http://127.0.0.1:1', sandboxServerKey: SANDBOX_SERVER_KEY };
    ({ secretKey: secret } = await seedDemo({ databaseUrl: apis.databaseUrl, masterKey, ...sandbox }));
  });
  afterAll(async () => {
    await apis.close();
    temporal.close();
    for (const connection of connections) connection.destroy();
  });

  async function countDetails(): Promise<number> {
    const { rows } = await apis.db.query('select count(*)::int as details from payment_details');
    return rows[0].details;
  }

  const ascending = (results: readonly ApiResult[]) =>
    results.map(({ status }) => status).toSorted((one, other) => one - other);

  it('429 beyond a bulk in flight, with Retry-After; a bulk that is not admitted creates nothing', async () => {
    const [url = ''] = apis.urls;
    const results = await Promise.all(Array.from({ length: 5 }, () => postBulk(url, secret)));
    const rejected = results.filter(({ status }) => status === 429);
    expect(ascending(results)).toEqual([429, 429, 429, 429, 500]);
    expect(rejected.every(({ headers }) => headers.get('retry-after') === '1')).toBe(true);
    expect(await countDetails()).toBe(0);
  });

  it('at most 32 of 80 concurrent creations get 500 after the deadline, and the others 429 immediately', async () => {
    const [url = ''] = apis.urls;
    const order: number[] = [];
    const results = await Promise.all(
      Array.from({ length: 80 }, async () => {
        const result = await post(url, secret, { amount: 10_000, provider: 'shopeepay', customer: { name: 'Siti' } });
        order.push(result.status);
        return result;
      }),
    );
    const waited = order.filter((status) => status === 500).length;
    // Fewer if a slow machine admits for more than three seconds: then the account has stalled.
    expect(waited).toBeGreaterThan(0);
    expect(waited).toBeLessThanOrEqual(32);
    // None of the rejected requests waited for a creation, and none wrote anything.
    expect(order).toEqual([...Array(80 - waited).fill(429), ...Array(waited).fill(500)]);
    expect(results).toHaveLength(80);
    expect(await countDetails()).toBe(waited);
  });

  it('429 also for a bulk that repeats a creation in flight beside a new one', async () => {
    const [url = ''] = apis.urls;
    const before = await countDetails();
    const itemOf = (key: string) => ({ amount: 10_000, idempotency_key: key, customer: { name: 'Sri' } });
    const first = post(url, secret, { payments: Array.from({ length: ITEMS }, (_, index) => itemOf(`item-${index}`)) });
    await eventually(countDetails, (details) => details === before + ITEMS);
    const second = await post(url, secret, { payments: [itemOf('item-0'), itemOf('new')] });
    expect([second.status, second.code, second.headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    expect((await first).status).toBe(500);
    expect(await countDetails()).toBe(before + ITEMS);
  });
});
