import { createPool, type Pool } from '../../../src/db/connection/pool';
import {
  beginIfOnOtherTimeline,
  beginRecovery,
  endRecovery,
  readRecoveryMode,
  readRecoveryProgress,
} from '../../../src/db/operations/recovery-mode';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let owner: Pool;
let worker: Pool;
let operator: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 1 });
  worker = createPool(database.urlOf('lunas_local_worker'), { max: 1 });
  operator = createPool(database.urlOf('lunas_local_operator'), { max: 1 });
});
afterEach(async () => {
  await Promise.all([owner, worker, operator].map((pool) => pool.end()));
  await database.drop();
});

const BY_DEWI = { by: 'operator:dewi', reason: 'restored, incident 12' } as const;

it('recovery mode is off in a new installation, which records the timeline of its PostgreSQL', async () => {
  const { isOn, begunAt, timeline, recordedTimeline } = await readRecoveryMode(worker);
  expect([isOn, begunAt, timeline, recordedTimeline]).toEqual([false, null, 1, 1]);
});

it('begins, ends, and begins again', async () => {
  for (const _round of [1, 2]) {
    expect(await beginRecovery(worker, BY_DEWI)).toBe(true);
    expect(await readRecoveryMode(operator)).toMatchObject({ isOn: true, begunBy: 'operator:dewi' });
    expect(await endRecovery(operator, 1)).toBe(true);
    expect(await readRecoveryMode(worker)).toMatchObject({ isOn: false, reason: BY_DEWI.reason });
  }
});

it('keeps who began it first, and why', async () => {
  await beginRecovery(operator, BY_DEWI);
  expect(await beginRecovery(worker, { by: 'worker', reason: 'LUNAS_RECOVERY_MODE is set' })).toBe(false);
  expect(await readRecoveryMode(worker)).toMatchObject({ begunBy: 'operator:dewi', reason: BY_DEWI.reason });
});

it('recovery mode is on while PostgreSQL is on another timeline than the recorded one', async () => {
  await owner.query('update recovery_mode set timeline = 7');
  expect(await readRecoveryMode(worker)).toMatchObject({ isOn: true, isOnOtherTimeline: true, recordedTimeline: 7 });
  expect(await endRecovery(operator, 1)).toBe(true);
  expect(await readRecoveryMode(worker)).toMatchObject({ isOn: false, isOnOtherTimeline: false, recordedTimeline: 1 });
});

it('stays on if PostgreSQL has left the timeline that was recovered', async () => {
  await beginRecovery(operator, BY_DEWI);
  const { timeline } = await readRecoveryMode(operator);
  await owner.query('create or replace function postgresql_timeline() returns bigint language sql stable return 2');
  expect(await endRecovery(operator, timeline)).toBe(false);
  expect(await readRecoveryMode(worker)).toMatchObject({ isOn: true, recordedTimeline: 1, endedAt: null });
});

it.each([
  ['counts with the default period', 24, 1, 7 * 24 + 1, true],
  ['does not count with a shorter period', 24, 1, 25, false],
  ['does not count if it ran before the mode began', 24, 48, 9 * 24, false],
  ['does not count if it begins after the mode', 10 * 24, 1, 7 * 24 + 1, false],
  ['counts if it begins before the mode', 10 * 24, 1, 10 * 24 + 1, true],
])('a reconciliation %s', async (_name, begunHours, requestedHours, sinceHours, isReconciled) => {
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  // Never begun, and never ended.
  await owner.query('update recovery_mode set timeline = 7');
  expect(await beginIfOnOtherTimeline(operator, await readRecoveryMode(operator), 'operator:dewi')).toBe(true);
  await owner.query('update recovery_mode set begun_at = $1', [ago(begunHours)]);
  await owner.query(
    `with action as (
       insert into operator_actions (actor, via, action, target, requested_at)
       values ('cli:dewi', 'cli', 'reconcile', $1, $2) returning id
     ) insert into operator_action_outcomes (action_id, outcome) select id, 'succeeded' from action`,
    [ago(sinceHours).toISOString(), ago(requestedHours)],
  );
  const progress = await readRecoveryProgress(operator, {
    recover: 'recover',
    reconcile: 'reconcile',
    fullPeriodDays: 7,
  });
  expect(progress).toEqual({ isRecovered: false, isReconciled, openExceptions: 0 });
});

it.each(['update recovery_mode set ended_at = now()', 'update recovery_mode set timeline = 1'])(
  'a worker cannot end it: %s',
  async (statement) => {
    await expect(worker.query(statement)).rejects.toThrow('permission denied');
  },
);
