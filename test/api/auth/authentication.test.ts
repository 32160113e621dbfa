import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { createSecretKey } from '../../../src/crypto/secret-key';
import { AuthFailureLimiter } from '../../../src/http/auth/auth-failure-limiter';
import { networkOf } from '../../../src/lib/networks';
import { changeMerchant } from '../../../src/services/merchants/merchants';
import { callApi, IN_FORCE_AFTER_MS, sendRequest, startTestApis, type TestApis, type TestKey } from '../../support/api';
import { eventually } from '../../support/eventually';
import { issueKey, revokeAsOperator } from '../../support/keys';

/** The response of an authenticated request. */
const AUTHENTICATED = [404, 'not_found'] as const;

const isIPv6Here = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

async function codeOf(url: string, secret: string, headers: Record<string, string> = {}): Promise<unknown[]> {
  const { status, code } = await callApi(url, secret, headers);
  return [status, code];
}

function first(urls: readonly string[]): string {
  const [url] = urls;
  if (url === undefined) throw new Error('No API was started');
  return url;
}

describe('the order of checks', () => {
  const KEY_DEFECTS = ['key', 'address', 'merchant', 'rate limit', 'body', 'fields'] as const;
  type KeyDefect = (typeof KEY_DEFECTS)[number];
  const CODES: Record<KeyDefect, string> = {
    key: 'invalid_api_key',
    address: 'api_key_ip_not_allowed',
    merchant: 'merchant_not_approved',
    'rate limit': 'rate_limited',
    body: 'invalid_json',
    fields: 'invalid_amount',
  };
  const PAIRS = KEY_DEFECTS.flatMap((one, index) => KEY_DEFECTS.slice(index + 1).map((other) => [one, other] as const));

  let apis: TestApis;
  beforeAll(async () => (apis = await startTestApis([{}])));
  afterAll(() => apis.close());

  async function requestWith(defects: readonly KeyDefect[]): Promise<string | undefined> {
    const key = await apis.newKey({
      allowedNetworks: defects.includes('address') ? ['203.0.113.0/24'] : [],
      approve: !defects.includes('merchant'),
    });
    if (defects.includes('key')) await revokeAsOperator(apis.db, key.id);
    if (defects.includes('rate limit')) {
      await apis.db.query('insert into rate_limits values ($1, 1000000, $2)', [key.merchantId, Date.now() + 60_000]);
    }
    const body = `{"amount":${defects.includes('fields') ? 0 : 1_000}${defects.includes('body') ? '' : '}'}`;
    const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' };
    return (await sendRequest(`${first(apis.urls)}/payments`, { method: 'POST', headers, body })).code;
  }

  it.each(PAIRS)('%s is reported before %s', async (one, other) => {
    expect([await requestWith([one]), await requestWith([other])]).toEqual([CODES[one], CODES[other]]);
    expect(await requestWith([one, other])).toBe(CODES[one]);
  });
});

describe('the key', () => {
  let apis: TestApis;
  let key: TestKey;
  let url: string;
  beforeAll(async () => {
    apis = await startTestApis([{}]);
    url = first(apis.urls);
    key = await apis.newKey();
  });
  afterAll(() => apis.close());

  it.each([
    ['bearer', (secret: string) => `bearer ${secret}`],
    ['BEARER', (secret: string) => `BEARER ${secret}`],
    ['more blanks', (secret: string) => `Bearer    ${secret}  `],
  ])('a key is accepted with any spelling of the scheme: %s', async (_name, spell) => {
    expect(await codeOf(url, '', { authorization: spell(key.secret) })).toEqual(AUTHENTICATED);
  });

  it.each([
    ['no header', () => ''],
    ['no scheme', (secret: string) => secret],
    ['another scheme', (secret: string) => `Basic ${secret}`],
    ['two keys', (secret: string) => `Bearer ${secret} ${secret}`],
    [
      'a key with a changed character',
      (secret: string) => `Bearer ${secret.slice(0, -1)}${secret.endsWith('0') ? 1 : 0}`,
    ],
    ['a well-formed key that does not exist', () => `Bearer ${createSecretKey('sandbox', '00').secret}`],
  ])('401 invalid_api_key, with the scheme to use: %s', async (_name, spell) => {
    const result = await callApi(url, '', { authorization: spell(key.secret) });
    expect([result.status, result.code]).toEqual([401, 'invalid_api_key']);
    expect(result.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('a change by an operator', () => {
  let apis: TestApis;
  beforeAll(async () => (apis = await startTestApis([{}, {}])));
  afterAll(() => apis.close());

  const everywhere = (key: TestKey) => Promise.all(apis.urls.map((url) => codeOf(url, key.secret)));
  const both = (result: readonly unknown[]) => [result, result];

  it('a revocation by an operator is in force within a second on every process', async () => {
    const key = await apis.newKey();
    expect(await everywhere(key)).toEqual(both(AUTHENTICATED));
    await revokeAsOperator(apis.db, key.id);
    await sleep(IN_FORCE_AFTER_MS);
    expect(await everywhere(key)).toEqual(both([401, 'invalid_api_key']));
  });

  it("an operator's change of a merchant's status is in force within a second on every process", async () => {
    const key = await apis.newKey({ approve: false });
    expect(await everywhere(key)).toEqual(both([403, 'merchant_not_approved']));
    await changeMerchant(apis.db, key.merchantId, { status: 'approved' });
    await sleep(IN_FORCE_AFTER_MS);
    expect(await everywhere(key)).toEqual(both(AUTHENTICATED));
    await changeMerchant(apis.db, key.merchantId, { status: 'suspended' });
    await sleep(IN_FORCE_AFTER_MS);
    expect(await everywhere(key)).toEqual(both([403, 'merchant_not_approved']));
  });

  it("an operator's change of an allowlist is in force within a second on every process", async () => {
    const key = await apis.newKey({ allowedNetworks: ['127.0.0.1'] });
    const allow = async (network: string) => {
      await apis.db.query('update api_keys set allowed_networks = array[$2::cidr] where id = $1', [key.id, network]);
      await sleep(IN_FORCE_AFTER_MS);
    };
    expect(await everywhere(key)).toEqual(both(AUTHENTICATED));
    await allow('203.0.113.0/24');
    expect(await everywhere(key)).toEqual(both([403, 'api_key_ip_not_allowed']));
    await allow('127.0.0.0/8');
    expect(await everywhere(key)).toEqual(both(AUTHENTICATED));
  });

  it('rotates a key without a rejection: activate the new one, then revoke the old one', async () => {
    const old = await apis.newKey();
    const { merchantId } = old;
    const results: unknown[][] = [];
    const current = { secret: old.secret, stopped: false };
    /** By client: the key of the request in flight. */
    const inUse: string[] = [];
    const clients = Array.from({ length: 8 }, async (_, client) => {
      while (!current.stopped) {
        inUse[client] = current.secret;
        results.push(await codeOf(apis.urls[client % 2] ?? '', current.secret));
      }
    });
    const addResults = (count: number) => {
      const enough = results.length + count;
      return eventually(
        async () => results.length,
        (length) => length >= enough,
      );
    };

    await addResults(50);
    current.secret = (await issueKey(apis.db, { merchantId, environment: 'sandbox', allowedNetworks: [] })).secret;
    await eventually(
      async () => inUse,
      (secrets) => !secrets.includes(old.secret),
    );
    await revokeAsOperator(apis.db, old.id);
    await addResults(50);
    current.stopped = true;
    await Promise.all(clients);
    await sleep(IN_FORCE_AFTER_MS);

    expect(results.filter(([status]) => status !== 404)).toEqual([]);
    expect(await everywhere(old)).toEqual(both([401, 'invalid_api_key']));
  });
});

describe('the allowlist', () => {
  let apis: TestApis;
  let url: string;
  beforeAll(async () => {
    apis = await startTestApis([{ trustProxy: 1 }]);
    url = first(apis.urls);
  });
  afterAll(() => apis.close());

  it.each([
    ['203.0.113.9', '203.0.113.9', true],
    ['203.0.113.9', '203.0.113.10', false],
    ['203.0.113.0/29', '203.0.113.7', true],
    ['203.0.113.0/29', '203.0.113.8', false],
    ['203.0.113.0/24', '::ffff:203.0.113.9', true],
    ['203.0.113.0/24', '::FFFF:CB00:7109', true],
    ['203.0.113.0/24', '0:0:0:0:0:ffff:203.0.113.9', true],
    ['203.0.113.0/24', '::ffff:203.0.114.9', false],
    ['203.0.113.0/24', '::203.0.113.9', false],
    ['2001:db8::/32', '2001:DB8:0:0::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::1', '2001:db8:0:0:0:0:0:1', true],
    ['::1', '127.0.0.1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['127.0.0.0/8', 'unknown', false],
    ['127.0.0.0/8', '127.0.0.1:8080', false],
  ])('%s and a caller at %s: %s', async (network, address, allowed) => {
    const { secret } = await apis.newKey({ allowedNetworks: [network] });
    const result = await codeOf(url, secret, { 'x-forwarded-for': address });
    expect(result).toEqual(allowed ? AUTHENTICATED : [403, 'api_key_ip_not_allowed']);
  });

  it('an allowlist may contain several networks', async () => {
    const { secret } = await apis.newKey({ allowedNetworks: ['203.0.113.0/24', '2001:db8::/32'] });
    const at = (address: string) => codeOf(url, secret, { 'x-forwarded-for': address });
    expect(await at('203.0.113.1')).toEqual(AUTHENTICATED);
    expect(await at('2001:db8::1')).toEqual(AUTHENTICATED);
    expect(await at('198.51.100.1')).toEqual([403, 'api_key_ip_not_allowed']);
  });
});

describe('TRUST_PROXY', () => {
  const ADDRESSES = ['127.0.0.1', '10.0.0.1', '203.0.113.9', '6.6.6.6'] as const;
  const MATRIX = [
    [0, '127.0.0.1'],
    [1, '10.0.0.1'],
    [2, '203.0.113.9'],
    [['127.0.0.1'], '10.0.0.1'],
    [['127.0.0.0/8', '10.0.0.0/8'], '203.0.113.9'],
    [['10.0.0.0/8'], '127.0.0.1'],
  ] as const;

  let apis: TestApis;
  const secrets = new Map<string, string>();
  beforeAll(async () => {
    apis = await startTestApis([
      ...MATRIX.map(([trustProxy]) => ({ trustProxy })),
      { host: isIPv6Here ? '::' : '127.0.0.1' },
    ]);
    for (const address of ADDRESSES) {
      secrets.set(address, (await apis.newKey({ allowedNetworks: [address] })).secret);
    }
  });
  afterAll(() => apis.close());

  /** The caller's address for the API: the address whose key is accepted. */
  async function seenAs(url: string, headers: Record<string, string>): Promise<string[]> {
    const seen: string[] = [];
    for (const [address, secret] of secrets)
      if ((await callApi(url, secret, headers)).status === 404) seen.push(address);
    return seen;
  }

  it.each(MATRIX.map(([trustProxy, address], index) => [JSON.stringify(trustProxy), address, index] as const))(
    '%s: a caller with a forged X-Forwarded-For has the address %s, and without it the address of the connection',
    async (_name, address, index) => {
      const url = apis.urls[index] ?? '';
      const forged = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9, 10.0.0.1' };
      expect(await seenAs(url, forged)).toEqual([address]);
      expect(await seenAs(url, {})).toEqual(['127.0.0.1']);
    },
  );

  it('a caller over IPv4 has its IPv4 address at an API that listens on IPv6', async () => {
    expect(await seenAs(apis.urls[MATRIX.length] ?? '', {})).toEqual(['127.0.0.1']);
  });
});

describe('requests with a failed key', () => {
  let apis: TestApis;
  let url: string;
  beforeEach(async () => {
    apis = await startTestApis([{ trustProxy: 1 }]);
    url = first(apis.urls);
  });
  afterEach(() => apis.close());

  const from = (address: string) => ({ 'x-forwarded-for': address });

  it('429 rate_limited from the 61st in a minute, for that address and only with a failed key', async () => {
    const { secret } = await apis.newKey();
    const unknown = createSecretKey('sandbox', '00').secret;
    // All within the minute of the first.
    const failed = await Promise.all(
      Array.from({ length: 60 }, (_, index) => callApi(url, index % 2 ? 'nonsense' : unknown, from('203.0.113.9'))),
    );
    expect(new Set(failed.map(({ code }) => code))).toEqual(new Set(['invalid_api_key']));
    for (const wrong of ['nonsense', unknown]) {
      const result = await callApi(url, wrong, from('203.0.113.9'));
      expect([result.status, result.code]).toEqual([429, 'rate_limited']);
      const retryAfterSeconds = Number(result.headers.get('retry-after'));
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(retryAfterSeconds).toBeLessThanOrEqual(60);
    }
    expect(await codeOf(url, secret, from('203.0.113.9'))).toEqual(AUTHENTICATED);
    expect(await codeOf(url, unknown, from('203.0.113.10'))).toEqual([401, 'invalid_api_key']);
  });

  it('failed keys are counted by /64 for IPv6, and from zero after a minute', () => {
    const authFailures = new AuthFailureLimiter();
    const counts = Array.from({ length: 61 }, (_, index) => authFailures.count(`2001:db8::${index.toString(16)}`));
    expect(counts.findIndex((retryAfter) => retryAfter !== undefined)).toBe(60);
    expect(authFailures.count('2001:db8:0:1::1')).toBeUndefined();
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_001);
    expect(authFailures.count('2001:db8::1')).toBeUndefined();
    now.mockRestore();
  });

  it('failed keys are counted for at most 10,000 networks', () => {
    const authFailures = new AuthFailureLimiter();
    for (let count = 0; count < 61; count += 1) authFailures.count('203.0.113.9');
    const fail = (networks: number) => {
      for (let index = 0; index < networks; index += 1) authFailures.count(`10.0.${index >> 8}.${index & 255}`);
    };
    fail(9_998);
    expect(authFailures.count('203.0.113.9')).toBeDefined();
    fail(10_000);
    expect(authFailures.count('203.0.113.9')).toBeUndefined();
  });

  it('share a network exactly when their first 64 bits are the same', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((bits) => bits.toString(16));
    const half = fc.tuple(group, group, group, group);
    fc.assert(
      fc.property(half, half, half, (network, one, other) => {
        const spell = (host: string[]) => new URL(`http://[${[...network, ...host].join(':')}]`).hostname.slice(1, -1);
        expect(networkOf(spell(one))).toBe(networkOf(spell(other)));
        const networkAddress = networkOf(spell(one)).replace(/\/64$/, '');
        expect(isIPv6(networkAddress)).toBe(true);
        expect(new URL(`http://[${networkAddress}]`).hostname).toBe(
          new URL(`http://[${[...network, 0, 0, 0, 0].join(':')}]`).hostname,
        );
      }),
      // Spelled `::1` and `0:0:0:0:1::`.
      { examples: [[Array(4).fill('0'), ['0', '0', '0', '1'], ['1', '0', '0', '0']]] },
    );
  });
});

describe('the log', () => {
  it('the log never contains a secret key, for any outcome of the request', async () => {
    const apis = await startTestApis([{}]);
    const url = first(apis.urls);
    const { id, secret } = await apis.newKey();
    const spellings = [`Bearer ${secret}`, `bearer  ${secret}`, secret, `Basic ${secret}`, `Bearer ${secret},`];
    const callAll = async () => {
      const statuses = new Set<number>();
      for (const authorization of spellings) statuses.add((await callApi(url, '', { authorization })).status);
      for (const path of [`/payments/${secret}`, `/${secret}?key=${secret}`, `/payments/x?key=${secret}`]) {
        statuses.add((await sendRequest(url + path, { headers: { authorization: `Bearer ${secret}` } })).status);
      }
      const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': secret, 'content-type': secret };
      statuses.add((await sendRequest(`${url}/payments`, { method: 'POST', headers, body: `{"${secret}":` })).status);
      return [...statuses].sort((one, other) => one - other);
    };

    expect(await callAll()).toEqual([400, 401, 404]);
    await revokeAsOperator(apis.db, id);
    await sleep(IN_FORCE_AFTER_MS);
    expect(await callAll()).toEqual([401, 404]);
    await apis.db.query(`alter table api_keys rename to "${secret}"`);
    expect(await callAll()).toEqual([401, 404, 500]);
    await apis.db.query(
      `create function fail() returns boolean language plpgsql as $$ begin raise 'for ${secret}'; end $$`,
    );
    await apis.db.query('create view api_keys as select *, fail() from merchants');
    expect(await callAll()).toEqual([401, 404, 500]);
    await apis.close();

    const log = apis.logged();
    expect(log.split('\n').length).toBeGreaterThan(30);
    expect(log).toContain('request failed');
    expect(log).not.toContain(secret);
    expect(log).not.toContain(secret.slice(8, 40));
    // The masked key of a path.
    expect(log).toContain(`/payments/sk_test_…${secret.slice(-4)}`);
  });
});

describe('the headers of a response', () => {
  let apis: TestApis;
  beforeAll(async () => {
    apis = await startTestApis([{ trustProxy: 1 }, {}, { publicBaseUrl: 'https://pay.example' }]);
  });
  afterAll(() => apis.close());

  /** All of them, with a placeholder for values that differ between responses. */
  function shown(headers: Headers): Record<string, string> {
    const varying = new Set(['date', 'x-request-id', 'content-length', 'ratelimit-reset', 'ratelimit-remaining']);
    return Object.fromEntries([...headers].map(([name, value]) => [name, varying.has(name) ? '…' : value]));
  }

  it('a response has these headers and no others', async () => {
    const url = first(apis.urls);
    const { secret } = await apis.newKey();
    const origin = { origin: 'https://shop.example' };
    expect(shown((await sendRequest(`${url}/healthz`, { headers: origin })).headers)).toMatchInlineSnapshot(`
     {
       "connection": "keep-alive",
       "content-length": "…",
       "content-type": "application/json; charset=utf-8",
       "date": "…",
       "keep-alive": "timeout=75",
       "x-content-type-options": "nosniff",
       "x-request-id": "…",
     }
    `);
    expect(shown((await callApi(url, 'nonsense', origin)).headers)).toMatchInlineSnapshot(`
     {
       "cache-control": "no-store",
       "connection": "keep-alive",
       "content-length": "…",
       "content-type": "application/json; charset=utf-8",
       "date": "…",
       "keep-alive": "timeout=75",
       "www-authenticate": "Bearer",
       "x-content-type-options": "nosniff",
       "x-error-reason": "key_unknown",
       "x-request-id": "…",
     }
    `);
    expect(shown((await callApi(url, secret, origin)).headers)).toMatchInlineSnapshot(`
     {
       "cache-control": "no-store",
       "connection": "keep-alive",
       "content-length": "…",
       "content-type": "application/json; charset=utf-8",
       "date": "…",
       "keep-alive": "timeout=75",
       "ratelimit-limit": "1000000",
       "ratelimit-remaining": "…",
       "ratelimit-reset": "…",
       "x-content-type-options": "nosniff",
       "x-error-reason": "payment_unknown",
       "x-request-id": "…",
     }
    `);
  });

  it('require https from then on only if the request used it', async () => {
    const [behindProxy = '', direct = '', byHttps = ''] = apis.urls;
    const hsts = async (url: string, headers: Record<string, string> = {}) =>
      (await sendRequest(`${url}/healthz`, { headers })).headers.get('strict-transport-security');
    const https = { 'x-forwarded-proto': 'https' };
    expect(await hsts(behindProxy, https)).toBe('max-age=31536000');
    expect(await hsts(byHttps)).toBe('max-age=31536000');
    expect(await hsts(behindProxy)).toBeNull();
    expect(await hsts(direct, https)).toBeNull();
  });

  it('allow no other site to read the response', async () => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    const preflight = await sendRequest(`${first(apis.urls)}/payments`, { method: 'OPTIONS', headers });
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});
