import { createPool, type Pool } from '../../../src/db/connection/pool';
import { RateLimit } from '../../../src/http/rate-limit/rate-limit';
import { createLogger } from '../../../src/observability/logger';
import { callApi, sendRequest, startTestApis, type ApiResult, type TestApis } from '../../support/api';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

const LIMIT = 40;

/** Sent concurrently; the requests go to the processes in turn. */
function flood(urls: readonly string[], secret: string, requests: number): Promise<ApiResult[]> {
  return Promise.all(Array.from({ length: requests }, (_, index) => callApi(urls[index % urls.length] ?? '', secret)));
}

const allowed = (results: readonly ApiResult[]) => results.filter(({ status }) => status === 404);
const rejected = (results: readonly ApiResult[]) => results.filter(({ code }) => code === 'rate_limited');

/** Counts the upserts of the table: a trigger for inserts fires at each of them, conflict or not. */
async function countWrites(db: Pool): Promise<() => Promise<number>> {
  await db.query(`create table writes (); grant insert on writes to lunas_api;
    create function note() returns trigger language plpgsql as
    $$ begin insert into writes default values; return null; end $$;
    create trigger note after insert on rate_limits for each statement execute function note()`);
  return async () => {
    const { rows } = await db.query<{ count: number }>('select count(*) from writes');
    return rows[0]?.count ?? 0;
  };
}

describe('the rate limit of a key', () => {
  let apis: TestApis;
  beforeAll(async () => {
    apis = await startTestApis([{ requestsPerMinute: LIMIT }, { requestsPerMinute: LIMIT }]);
    // Connect first: on a busy machine this can take longer than the timeout of the table.
    await flood(apis.urls, (await apis.newKey()).secret, 2);
  });
  afterAll(() => apis.close());

  it('allows exactly the limit, reports the rest, and rejects the others with 429 and a delay', async () => {
    const [url = ''] = apis.urls;
    const { secret } = await apis.newKey();
    for (let remaining = LIMIT - 1; remaining >= 0; remaining -= 1) {
      const { status, headers } = await callApi(url, secret);
      expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
        404,
        String(LIMIT),
        String(remaining),
      ]);
      expect(headers.get('retry-after')).toBeNull();
    }
    const { status, code, message, headers } = await callApi(url, secret);
    const resetSeconds = Number(headers.get('ratelimit-reset'));
    expect([status, code, headers.get('ratelimit-remaining')]).toEqual([429, 'rate_limited', '0']);
    expect(resetSeconds).toBeGreaterThan(0);
    expect(resetSeconds).toBeLessThanOrEqual(60);
    expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'));
    expect(message).toBe(`A merchant may make ${LIMIT} requests a minute; try again in ${resetSeconds} s.`);
  });

  it('the rate limit is in every response after the check, successful or not, and in none before it', async () => {
    const [url = ''] = apis.urls;
    const { secret } = await apis.newKey();
    const { secret: waiting } = await apis.newKey({ approve: false });
    const post = { method: 'POST', headers: { authorization: `Bearer ${secret}` }, body: '{' };
    const limited = [await callApi(url, secret), await sendRequest(`${url}/payments`, post)];
    expect(limited.map(({ status, headers }) => [status, headers.get('ratelimit-remaining')])).toEqual([
      [404, String(LIMIT - 1)],
      [400, String(LIMIT - 2)],
    ]);
    const free = [await callApi(url, 'nonsense'), await callApi(url, waiting), await sendRequest(`${url}/healthz`)];
    expect(free.map(({ status, headers }) => [status, headers.get('ratelimit-limit')])).toEqual([
      [401, null],
      [403, null],
      [200, null],
    ]);
  });

  /** The result for a new key; on a busy machine that of the first attempt while no process counts by itself. */
  function ofNewKey<T>(run: (secret: string) => Promise<T>, isExpected: (result: T) => boolean): Promise<T> {
    const hasFallenBack = () => apis.logged().includes('rate limit store unavailable');
    return eventually(
      async () => run((await apis.newKey()).secret),
      (result) => isExpected(result) || !hasFallenBack(),
    );
  }

  it('the rate limit of a key is one budget over all processes, also if both are flooded concurrently', async () => {
    const results = await ofNewKey(
      (secret) => flood(apis.urls, secret, 4 * LIMIT),
      (responses) => allowed(responses).length === LIMIT,
    );
    expect([allowed(results).length, rejected(results).length]).toEqual([LIMIT, 3 * LIMIT]);
  });

  it('a rate limit that is exhausted in one process is exhausted in the other', async () => {
    const [one = '', other = ''] = apis.urls;
    const result = await ofNewKey(
      async (secret) => [allowed(await flood([one], secret, LIMIT)).length, (await callApi(other, secret)).code],
      ([, code]) => code === 'rate_limited',
    );
    expect(result).toEqual([LIMIT, 'rate_limited']);
  });

  it('the rate limit of a key is not affected by the keys of another merchant', async () => {
    const [busy, other] = [await apis.newKey(), await apis.newKey()];
    const [, results] = await Promise.all([
      flood(apis.urls, busy.secret, 4 * LIMIT),
      flood(apis.urls, other.secret, LIMIT / 2),
    ]);
    expect(allowed(results)).toHaveLength(LIMIT / 2);
  });

  it('costs no statement once it is exhausted', async () => {
    const writes = await countWrites(apis.db);
    const { secret } = await apis.newKey();
    await flood(apis.urls, secret, 2 * LIMIT);
    // On a busy machine the API may fall back to local counters for a while; then the table is exhausted too.
    const flooded = await eventually(
      async () => {
        const before = await writes();
        const results = await flood(apis.urls, secret, 2 * LIMIT);
        return { before, rejected: rejected(results).length, written: (await writes()) - before };
      },
      ({ before, written }) => before > 0 && written === 0,
    );
    expect(flooded).toMatchObject({ rejected: 2 * LIMIT, written: 0 });
  });
});

describe('the table of rate limits', () => {
  /** Few: they have to be done before the timeout of the table, two seconds. */
  const REQUESTS = 16;

  it('a blocked count of one key does not delay other keys', async () => {
    const apis = await startTestApis([{ requestsPerMinute: LIMIT }, { requestsPerMinute: LIMIT }]);
    const stuck = await apis.newKey();
    const other = await apis.newKey();
    await flood(apis.urls, stuck.secret, 4);
    const lock = await apis.db.connect();
    await lock.query('begin');
    await lock.query('select from rate_limits where key = $1 for update', [stuck.merchantId]);
    const completed = { stuck: 0, other: 0, stuckWhenOtherWasDone: -1 };
    const count = (name: 'stuck' | 'other', { secret }: { secret: string }) =>
      Promise.all(
        Array.from({ length: REQUESTS }, async (_, index) => {
          await callApi(apis.urls[index % 2] ?? '', secret);
          completed[name] += 1;
        }),
      );
    const waiting = count('stuck', stuck);
    await count('other', other);
    completed.stuckWhenOtherWasDone = completed.stuck;
    await lock.query('rollback');
    lock.release();
    await waiting;
    await apis.close();
    expect(completed.other).toBe(REQUESTS);
    // Some were counted before the lock.
    expect(completed.stuckWhenOtherWasDone).toBeLessThan(REQUESTS / 2);
  });

  it('a hanging table of rate limits neither blocks nor fails requests: each process counts by itself', async () => {
    const apis = await startTestApis([{ requestsPerMinute: LIMIT }, { requestsPerMinute: LIMIT }]);
    const keys = [await apis.newKey(), await apis.newKey(), await apis.newKey()];
    const lock = await apis.db.connect();
    try {
      await lock.query('begin; lock table rate_limits in access exclusive mode');
      // Responses while the table is locked.
      for (const { secret } of keys) {
        const codes = (await flood(apis.urls, secret, 20)).map(({ code }) => code);
        expect(codes).toEqual(Array(20).fill('not_found'));
      }
      const results = await flood(apis.urls, keys[0]?.secret ?? '', 4 * LIMIT);
      expect(allowed(results).length + 20).toBe(2 * LIMIT);
    } finally {
      // An open transaction would hold up every file that waits for the oldest one of the cluster.
      lock.release(true);
      await apis.close();
    }
    // Each process logs its timeout once, not once per key or request.
    expect(apis.logged().split('rate limit store unavailable')).toHaveLength(3);
  });
});

describe('RateLimit', () => {
  let database: TestDatabase;
  let db: Pool;
  let rateLimit: RateLimit;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = createPool(database.url, { max: 1 });
    rateLimit = new RateLimit({
      databaseUrl: database.urlOf('lunas_local_api'),
      requestsPerMinute: 600,
      log: createLogger('test', 'silent'),
    });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rateLimit.close();
    await db.end();
    await database.drop();
  });

  const take = async (keyId: string, requests: number): Promise<number> => {
    let allowed = 0;
    for (let count = 0; count < requests; count += 1) if ((await rateLimit.take(keyId)).allowed) allowed += 1;
    return allowed;
  };
  /** Stops the clock. */
  const laterBy = (seconds: number) => {
    const nowMs = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => nowMs + seconds * 1000);
  };
  const keysInTable = async () =>
    (await db.query<{ key: string }>('select key from rate_limits order by key')).rows.map(({ key }) => key);

  it('reads the table once in about ten requests of a busy key', async () => {
    const writes = await countWrites(db);
    expect(await take('busy', 700)).toBe(600);
    expect(await writes()).toBeLessThan(60);
  });

  it('leaves at most as many unused in one process as it has used, and at most an eighth', async () => {
    const other = new RateLimit({
      databaseUrl: database.urlOf('lunas_local_api'),
      requestsPerMinute: 600,
      log: createLogger('test', 'silent'),
    });
    for (let count = 0; count < 3; count += 1) await other.take('key');
    expect(await take('key', 600)).toBeGreaterThanOrEqual(600 - 3 - 3);
    for (let count = 0; count < 3; count += 1) await other.take('key');
    await other.close();

    expect(await take('key', 1)).toBe(0);
  });

  it('allows the whole limit again after the minute', async () => {
    laterBy(0);
    expect(await take('key', 601)).toBe(600);
    laterBy(59);
    expect(await take('key', 1)).toBe(0);
    laterBy(2);
    expect(await take('key', 601)).toBe(600);
  });

  it('deletes expired rows', async () => {
    await take('old', 1);
    expect(await keysInTable()).toEqual(['old']);
    laterBy(121);
    await take('new', 1);
    await take('new', 1);
    await eventually(keysInTable, (keys) => keys.join() === 'new');
  });
});
