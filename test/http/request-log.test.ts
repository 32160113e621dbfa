import { createPool, type Pool } from '../../src/db/connection/pool';
import type { CompletedRequest } from '../../src/db/operations/recorded-requests';
import { RequestLog } from '../../src/http/request-log';
import { setRecorder } from '../../src/observability/metrics';
import { collectLog, type CollectedLog } from '../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { eventually } from '../support/eventually';

/** `MAX_BUFFERED` of the request log. */
const BUFFERED = 2_000;

let database: TestDatabase;
let db: Pool;
let owner: Pool;
let collected: CollectedLog;
let requestLog: RequestLog;
let counts: Record<string, number>;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.urlOf('lunas_local_api'), { max: 1, statementTimeoutMs: 500 });
  owner = createPool(database.url, { max: 2 });
  collected = collectLog();
  counts = {};
  setRecorder({
    increment: (name, labels, by) => (counts[`${name} ${labels.reason}`] = by),
    observe: () => undefined,
  });
  requestLog = new RequestLog(db, collected.log, 100_000);
});
afterEach(async () => {
  await requestLog.close();
  await Promise.all([db.end(), owner.end()]);
  await database.drop();
});

const requestOf = (requestId: string, path = '/payments'): CompletedRequest => ({
  requestId,
  startedAt: new Date('2026-11-01T00:00:00.000Z'),
  keyId: null,
  merchantId: null,
  method: 'GET',
  path,
  status: 200,
  durationMs: 1,
  errorCode: null,
  errorReason: null,
  errorDetail: null,
  ignoredFields: [],
  ignoredParameters: [],
  paymentIds: [],
});

const recorded = async (): Promise<readonly { id: string; path: string }[]> =>
  (await owner.query<{ id: string; path: string }>('select request_id as id, path from api_requests order by id')).rows;

describe('the request log', () => {
  it('counts what a blocked table does not take, and records again afterwards', async () => {
    const lock = await owner.connect();
    await lock.query('begin; lock table api_requests in access exclusive mode');
    requestLog.add(requestOf('lost-1'));
    requestLog.add(requestOf('lost-2'));
    await eventually(
      async () => collected.lines('requests not recorded'),
      (lines) => lines.length === 1,
    );
    await lock.query('rollback');
    lock.release();
    requestLog.add(requestOf('kept'));
    await eventually(recorded, (rows) => rows.length > 0);
    expect((await recorded()).map(({ id }) => id)).toEqual(['kept']);
    expect(counts).toEqual({ 'lunas_requests_unrecorded_total database': 2 });
  });

  it('the request log is bounded: it counts what the buffer does not take', async () => {
    for (let number = 0; number <= BUFFERED; number += 1) requestLog.add(requestOf(`burst-${number}`));
    await requestLog.close();
    expect(await recorded()).toHaveLength(BUFFERED);
    expect(counts).toEqual({ 'lunas_requests_unrecorded_total buffer_full': 1 });
  });

  it('attack: has no secret of a path or an id', async () => {
    const secret = `sk_test_${'a'.repeat(40)}`;
    requestLog.add(requestOf(secret, `/payments/${secret}`));
    await requestLog.close();
    expect(await recorded()).toEqual([{ id: 'sk_test_…aaaa', path: '/payments/sk_test_…aaaa' }]);
  });
});
