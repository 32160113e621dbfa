import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import QRCode from 'qrcode';
import { createSecretKey } from '../../src/crypto/secret-key';
import { DocsSearch } from '../../src/web/docs/search';
import { callApi, sendRequest, startTestApis, type ApiResult, type TestApis } from '../support/api';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** The statements that this process sends through a pool, by their names. */
function countStatements(name: string): () => number {
  const queries = jest.spyOn(Pool.prototype, 'query');
  return () => queries.mock.calls.filter(([query]) => JSON.stringify(query)?.includes(name)).length;
}

const secondsSince = (startedAtMs: number): number => (performance.now() - startedAtMs) / 1_000;

afterEach(() => jest.restoreAllMocks());

describe('QR images', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(await newNamespace());
  });
  afterAll(() => service.close());

  it('a QR image is rendered and read once, also for a hundred concurrent callers', async () => {
    const { qris_image_url } = (await service.call('POST', '/payments', { amount: 10_000 })).body.payment;
    const renderings = jest.spyOn(QRCode, 'create');
    const reads = countStatements('find_original_response');
    const images = await Promise.all(
      Array.from({ length: 100 }, async () => Buffer.from(await (await fetch(qris_image_url)).arrayBuffer())),
    );
    expect([renderings.mock.calls.length, reads()]).toEqual([1, 1]);
    expect(new Set(images.map((image) => image.toString('base64'))).size).toBe(1);
    const svg = await fetch(qris_image_url.replace('.png', '.svg'));
    expect([svg.headers.get('content-type'), await svg.text()]).toEqual([
      'image/svg+xml; charset=utf-8',
      expect.stringMatching(/^<svg /),
    ]);
  });

  it('a token without a valid MAC costs no read', async () => {
    const token = randomBytes(32).toString('base64url');
    const reads = countStatements('find_original_response');
    expect((await fetch(`${service.apiUrl}/qris/${token}.png`)).status).toBe(404);
    expect(reads()).toBe(0);
  });
});

describe('the budget of the public endpoints', () => {
  const PER_SECOND = 1;
  const BURST = 2 * PER_SECOND;
  let apis: TestApis;
  let url: string;
  beforeAll(async () => {
    apis = await startTestApis([{ trustProxy: 1, publicRequestsPerSecond: PER_SECOND }]);
    [url = ''] = apis.urls;
  });
  afterAll(() => apis.close());

  const from = (address: string) => ({ 'x-forwarded-for': address });
  const FLOOD = 20;
  const flood = (send: () => Promise<ApiResult>) => Promise.all(Array.from({ length: FLOOD }, send));

  it.each(['/qris/x.png', '/docs', '/docs/files/docs.js', '/openapi.json', '/no/such/address'])(
    '429 at %s, with Retry-After',
    async (path) => {
      const address = `2001:db8:${path.length}::1`;
      const startedAtMs = performance.now();
      const results = await flood(() => sendRequest(url + path, { headers: from(address) }));
      const rejected = results.filter(({ status }) => status === 429);
      const earned = Math.ceil(secondsSince(startedAtMs) * PER_SECOND);
      expect(FLOOD - rejected.length).toBeLessThanOrEqual(BURST + earned);
      expect(rejected.every(({ code, headers }) => code === 'rate_limited' && headers.get('retry-after') === '1')).toBe(
        true,
      );
      const other = from(`198.51.100.${path.length}`);
      expect((await sendRequest(url + path, { headers: other })).status).not.toBe(429);
      await eventually(
        () => sendRequest(url + path, { headers: from(address) }),
        ({ status }) => status !== 429,
      );
    },
  );

  it.each([
    ['/pay/x', 'Tunggu sebentar'],
    ['/link/x', 'Tunggu sebentar'],
    ['/docs', 'One moment, please'],
  ])('429 at %s is a page for a person', async (path, title) => {
    const headers = { ...from(`198.51.101.${path.length}`), accept: 'text/html,*/*;q=0.8', 'accept-language': 'id' };
    const responses = await Promise.all(Array.from({ length: FLOOD }, () => fetch(url + path, { headers })));
    const rejected = responses.find(({ status }) => status === 429);
    expect(['content-type', 'retry-after'].map((name) => rejected?.headers.get(name))).toEqual([
      'text/html; charset=utf-8',
      '1',
    ]);
    expect(await rejected?.text()).toContain(`<h1>${title}</h1>`);
  });

  it('429 for forged notifications, without reading their bodies', async () => {
    const send = () =>
      sendRequest(`${url}/provider-notifications/${randomUUID()}`, {
        method: 'POST',
        headers: from('203.0.113.1'),
        body: '{}',
      });
    const codes = (await flood(send)).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['not_found', 'rate_limited']));
  });

  it('requests of merchants do not count in the budget of the public endpoints', async () => {
    const { secret } = await apis.newKey();
    await Promise.all(Array.from({ length: 20 }, () => sendRequest(`${url}/docs`, { headers: from('203.0.113.2') })));
    expect((await callApi(url, secret, from('203.0.113.2'))).status).toBe(404);
  });
});

describe('searches of the documents', () => {
  /** Earned by the buckets of networks: those of two seconds are the burst. */
  const PER_SECOND = 2;
  const PER_SECOND_OF_ALL = 5;
  const FLOOD = 60;
  let apis: TestApis;
  let count = 0;
  beforeAll(async () => {
    apis = await startTestApis([{ trustProxy: 1, publicRequestsPerSecond: 25 * PER_SECOND }]);
    // The first search reads all documents, which takes seconds.
    await search('payment', '192.0.2.9');
  });
  afterAll(() => apis.close());

  const search = (query: string, address: string) =>
    fetch(`${apis.urls[0]}/docs/search?q=${query}`, { headers: { 'x-forwarded-for': address } });

  /** @returns the statuses of searches of which each is another one, and the seconds that they took */
  async function flood(addressOf: (index: number) => string) {
    const startedAtMs = performance.now();
    const responses = await Promise.all(
      Array.from({ length: FLOOD }, (_, index) => search(`payment${(count += 1)}`, addressOf(index))),
    );
    return {
      responses,
      searched: responses.filter(({ status }) => status === 200),
      seconds: secondsSince(startedAtMs),
    };
  }

  it.each([
    ['an address', PER_SECOND, () => '198.51.100.1'],
    ['the networks of an IPv6 /48', 4 * PER_SECOND, (index: number) => `2001:db8:77:${index}::1`],
  ])('searches of the documents by %s are few a second', async (_name, perSecond, addressOf) => {
    const { responses, searched, seconds } = await flood(addressOf);
    expect(searched.length).toBeGreaterThan(0);
    expect(searched.length).toBeLessThanOrEqual(Math.ceil((2 + seconds) * perSecond));
    const rejected = responses.filter((response) => !searched.includes(response));
    const outcomes = rejected.map(({ status, headers }) => [status, headers.has('retry-after')]);
    expect(outcomes).toEqual(outcomes.map(() => [429, true]));
  });

  it('searches of the documents by all addresses are few a second too, with a page for people', async () => {
    const { responses, searched, seconds } = await flood((index) => `203.0.113.${index}`);
    expect(searched.length).toBeLessThanOrEqual(Math.ceil((2 + seconds) * PER_SECOND_OF_ALL));
    const rejected = responses.find(({ status }) => status === 429);
    expect(await rejected?.text()).toContain('There are too many searches at present.');
  });

  it('a repeated search of the documents costs no search', async () => {
    await eventually(
      () => search('refund', '192.0.2.1'),
      ({ status }) => status === 200,
    );
    const searches = jest.spyOn(DocsSearch.prototype, 'find');
    const again = await Promise.all(Array.from({ length: 20 }, () => search('++refund+', '192.0.2.2')));
    expect([new Set(again.map(({ status }) => status)), searches.mock.calls]).toEqual([new Set([200]), []]);
  });
});

describe('keys that anyone can make up', () => {
  let apis: TestApis;
  let url: string;
  beforeAll(async () => {
    apis = await startTestApis([{}]);
    [url = ''] = apis.urls;
  });
  afterAll(() => apis.close());

  it('cost no read beyond the limit of their address; a new key of a merchant works there', async () => {
    const unknown = () => callApi(url, createSecretKey('sandbox', '00').secret);
    // All within the minute of the first.
    await Promise.all(Array.from({ length: 60 }, unknown));
    const reads = countStatements('find_api_key');
    const lists = countStatements('list_key_hashes');
    const startedAtMs = performance.now();
    const codes = (await Promise.all(Array.from({ length: 100 }, unknown))).map(({ code }) => code);
    expect([new Set(codes), reads()]).toEqual([new Set(['rate_limited']), 0]);
    expect(lists()).toBeLessThanOrEqual(1 + Math.ceil(secondsSince(startedAtMs)));
    const { secret } = await apis.newKey();
    await eventually(
      () => callApi(url, secret),
      ({ status }) => status === 404,
    );
  });
});

describe('a key that may not be used', () => {
  it.each([
    ['from another address', { allowedNetworks: ['203.0.113.0/24'] }, 'api_key_ip_not_allowed'],
    ['of a merchant that is not approved', { approve: false }, 'merchant_not_approved'],
  ])('%s counts as a failed key: 429 from the 61st request in a minute', async (_name, options, code) => {
    const apis = await startTestApis([{}]);
    const [url = ''] = apis.urls;
    const { secret } = await apis.newKey(options);
    // All within the minute of the first.
    const failed = await Promise.all(Array.from({ length: 60 }, () => callApi(url, secret)));
    expect(failed.map((result) => result.code)).toEqual(Array.from({ length: 60 }, () => code));
    expect((await callApi(url, secret)).code).toBe('rate_limited');
    const { secret: valid } = await apis.newKey();
    await eventually(
      () => callApi(url, valid),
      ({ status }) => status === 404,
    );
    await apis.close();
  });
});

it('readiness is checked at most once a second, for all callers together', async () => {
  const apis = await startTestApis([{}]);
  const checks = countStatements('select 1');
  const startedAtMs = performance.now();
  const results = await Promise.all(Array.from({ length: 200 }, () => sendRequest(`${apis.urls[0]}/readyz`)));
  // Without Temporal, it is ready for what PostgreSQL can serve.
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]));
  expect(checks()).toBeLessThanOrEqual(1 + Math.ceil(secondsSince(startedAtMs)));
  await apis.close();
});

it('no cache may keep a response for a merchant or an operator', async () => {
  const apis = await startTestApis([{}]);
  const [url = ''] = apis.urls;
  const { secret } = await apis.newKey();
  const responses = [
    await callApi(url, secret),
    await callApi(url, 'nonsense'),
    await sendRequest(`${url}/transactions`, { headers: { authorization: `Bearer ${secret}` } }),
    await sendRequest(`${apis.operatorUrls[0]}/operator/actions`),
  ];
  expect(responses.map(({ headers }) => headers.get('cache-control'))).toEqual(Array(4).fill('no-store'));
  await apis.close();
});
