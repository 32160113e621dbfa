import { createPool, type Pool } from '../../../src/db/connection/pool';
import { beginDailyRun, finishDailyRun } from '../../../src/db/transitions/daily-runs';
import type { EndedRun } from '../../../src/domain/daily-runs';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let payouts: Pool;
let worker: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  payouts = createPool(database.urlOf('lunas_local_payouts'), { max: 1 });
  worker = createPool(database.urlOf('lunas_local_worker'), { max: 1 });
});
afterAll(async () => {
  await Promise.all([payouts.end(), worker.end()]);
  await database.drop();
});

/** 05:30 WIB: in UTC it is the day before. */
const STARTED = { kind: 'payouts', startedAtMs: Date.parse('2026-11-28T22:30:00Z') } as const;
const ended = (changes: Partial<EndedRun> = {}): EndedRun => ({
  ...STARTED,
  finishedAtMs: Date.parse('2026-11-28T22:31:00Z'),
  isComplete: false,
  done: 3,
  failed: Array.from({ length: 101 }, (_, index) => `merchant ${index}`),
  failure: null,
  ...changes,
});

const readRuns = async () =>
  (
    await worker.query(
      `select day::text, finished_at is null as runs, is_complete, done_count, failed_count,
         cardinality(failed) as names from daily_runs`,
    )
  ).rows;

it('a run has its day in WIB, the number of those that failed and the first of them, and ends once', async () => {
  await beginDailyRun(payouts, STARTED);
  await beginDailyRun(payouts, STARTED);
  const begun = { day: '2026-11-29', runs: true, is_complete: false, done_count: 0, failed_count: 0, names: 0 };
  expect(await readRuns()).toEqual([begun]);
  await finishDailyRun(payouts, ended());
  await finishDailyRun(payouts, ended({ isComplete: true, failed: [] }));
  expect(await readRuns()).toEqual([{ ...begun, runs: false, done_count: 3, failed_count: 101, names: 100 }]);
});

it('attack: a role cannot write the run of another one, nor change one that has ended', async () => {
  await expect(beginDailyRun(worker, STARTED)).rejects.toMatchObject({ code: '42501' });
  await expect(finishDailyRun(payouts, ended({ kind: 'closing' }))).rejects.toMatchObject({ code: '42501' });
  const { rowCount } = await payouts.query('update daily_runs set is_complete = true');
  expect(rowCount).toBe(0);
});
