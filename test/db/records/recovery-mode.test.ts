import { createPool, type Pool } from '../../../src/db/connection/pool';
import { beginRecovery, endRecovery, readRecoveryMode } from '../../../src/db/records/recovery-mode';
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

it('is off in a new installation, which records the timeline of its PostgreSQL', async () => {
  const { isOn, begunAt, timeline, recordedTimeline } = await readRecoveryMode(worker);
  expect([isOn, begunAt, timeline, recordedTimeline]).toEqual([false, null, 1, 1]);
});

it('begins, ends, and begins again', async () => {
  for (const _round of [1, 2]) {
    expect(await beginRecovery(worker, BY_DEWI)).toBe(true);
    expect(await readRecoveryMode(operator)).toMatchObject({ isOn: true, begunBy: 'operator:dewi' });
    await endRecovery(operator);
    expect(await readRecoveryMode(worker)).toMatchObject({ isOn: false, reason: BY_DEWI.reason });
  }
});

it('keeps who began it first, and why', async () => {
  await beginRecovery(operator, BY_DEWI);
  expect(await beginRecovery(worker, { by: 'worker', reason: 'LUNAS_RECOVERY_MODE is set' })).toBe(false);
  expect(await readRecoveryMode(worker)).toMatchObject({ begunBy: 'operator:dewi', reason: BY_DEWI.reason });
});

it('is on while PostgreSQL is on another timeline than the recorded one', async () => {
  await owner.query('update recovery_mode set timeline = 7');
  expect(await readRecoveryMode(worker)).toMatchObject({ isOn: true, isOnOtherTimeline: true, recordedTimeline: 7 });
  await endRecovery(operator);
  expect(await readRecoveryMode(worker)).toMatchObject({ isOn: false, isOnOtherTimeline: false, recordedTimeline: 1 });
});

it.each(['update recovery_mode set ended_at = now()', 'update recovery_mode set timeline = 1'])(
  'a worker cannot end it: %s',
  async (statement) => {
    await expect(worker.query(statement)).rejects.toThrow('permission denied');
  },
);
