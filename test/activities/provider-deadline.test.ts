import { MockActivityEnvironment } from '@temporalio/testing';
import { createActivities } from '../../activities';
import type { ActivityDependencies } from '../../activities/dependencies';
import { providerDeadline } from '../../activities/provider-deadline';
import { unchecked } from '../../activities/verify-terms';
import { createPool } from '../../src/db/connection/pool';
import { activityDependencies } from '../support/activity-dependencies';
import { FakeAcquirer } from '../workflows/model/fake-acquirer';

const ATTEMPT_MS = 15_000;

const db = createPool('postgresql://127.0.0.1:1/none', { max: 1 });
const dependencies = activityDependencies(
  { db, environment: 'sandbox', onDeliveries: () => undefined },
  new FakeAcquirer(),
);
afterEach(() => jest.restoreAllMocks());
afterAll(() => db.end());

/** Waits so long for PostgreSQL, and then calls the provider. @returns the milliseconds that the call may take */
function waitAndCall(_: ActivityDependencies, waitMs: number): Promise<number> {
  const calledAtMs = Date.now() + waitMs;
  jest.spyOn(Date, 'now').mockReturnValue(calledAtMs);
  return Promise.resolve(providerDeadline().deadlineAtMs - calledAtMs);
}
waitAndCall.checked = unchecked(waitAndCall);

it.each([
  { waitMs: 0, leftMs: 0.3 * ATTEMPT_MS },
  { waitMs: 12_000, leftMs: 0.9 * ATTEMPT_MS - 12_000 },
  { waitMs: 60_000, leftMs: 0.9 * ATTEMPT_MS - 60_000 },
])('a regular attempt that waits $waitMs ms before its first call has $leftMs ms', async ({ waitMs, leftMs }) => {
  jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const { waitAndCall: activity = waitAndCall } = createActivities(dependencies, { waitAndCall });
  const environment = new MockActivityEnvironment({ isLocal: false, startToCloseTimeoutMs: ATTEMPT_MS });
  const run = (): Promise<unknown> => Reflect.apply(activity, undefined, [waitMs]);
  expect(await environment.run(run)).toBe(leftMs);
});
