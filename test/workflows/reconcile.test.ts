import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities';
import type { FailedPart } from '../../activities/reconcile';
import { planReconciliation, type ReconciliationPart } from '../../src/domain/reconciliation';
import { collectRuns } from '../support/daily-runs';
import { recordHistory } from '../support/history';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../support/temporal';

const BATCHES = 6;
const PARTS = 3;
const TASK_QUEUE = 'reconciliation-test';

let environment: TestWorkflowEnvironment;
let failures: FailedPart[];
let path: string[];
/** Whether the runs that ended had failed. */
let recorded: boolean[];
let daily: ReturnType<typeof collectRuns>;

beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

beforeEach(() => {
  failures = [];
  path = [];
  recorded = [];
  daily = collectRuns();
});

type ReconciliationActivities = Pick<
  { [Name in keyof Activities]: (...args: Parameters<Activities[Name]>) => ReturnType<Activities[Name]> },
  'planReconciliation' | 'reconcilePayments' | 'recordReconciliation' | 'reportFailedReconciliation'
>;

/** Each part has some batches, of ten payments each. */
const activities: ReconciliationActivities = {
  planReconciliation: async ({ startedAtMs }) =>
    planReconciliation(['one', 'two'], { changedSinceMs: startedAtMs, lastStartMs: startedAtMs, startedAtMs }),
  reconcilePayments: async ({ accountId, position }: ReconciliationPart) => {
    const batch = Number(position.after ?? 0) + 1;
    path.push(`${accountId} ${batch}`);
    const next = batch < BATCHES ? { ...position, after: String(batch) } : null;
    return { next, coverage: { seen: 10, compared: 9, indeterminate: 1, unasked: 0, breaks: 0 } };
  },
  recordReconciliation: async ({ isFailed }) => {
    recorded.push(isFailed);
  },
  reportFailedReconciliation: async (failed) => {
    failures.push(failed);
  },
};

function createWorker(changes: Partial<ReconciliationActivities> = {}): Promise<Worker> {
  return Worker.create({
    connection: environment.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: { ...activities, ...daily.activities, ...changes },
    maxCachedWorkflows: 0,
  });
}

function start(): Promise<{ workflowId: string; result(): Promise<unknown> }> {
  const workflowId = `reconciliation-${randomUUID()}`;
  return environment.client.workflow.start('reconcile', { workflowId, taskQueue: TASK_QUEUE, args: [] });
}

const failing = () => Promise.reject(new Error('PostgreSQL is not reachable'));

it('a run continues at its positions on another worker, and reports its coverage', async () => {
  const run = await start();
  let enough: () => void = () => undefined;
  const half = new Promise<void>((resolve) => (enough = resolve));
  const waiting = new Set<string | null>();
  const first = await createWorker({
    reconcilePayments: async (part) => {
      if (path.length < BATCHES) return activities.reconcilePayments(part);
      waiting.add(part.accountId);
      const complete = path.filter((batch) => batch.endsWith(` ${BATCHES}`)).length;
      if (waiting.size + complete === PARTS) enough();
      // A task that a server gives to a worker that stops is lost for the 5 minutes that it may take, which this server
      // does not skip. So no attempt is due before the other worker runs.
      throw ApplicationFailure.create({ message: 'the worker stops', nextRetryDelay: '1 minute' });
    },
  });
  await first.runUntil(half);
  const before = path.length;
  expect(before).toBe(BATCHES);
  const second = await createWorker();
  const result = await second.runUntil(run.result());
  const all = ['null', 'one', 'two'].flatMap((id) =>
    Array.from({ length: BATCHES }, (_, batch) => `${id} ${batch + 1}`),
  );
  expect(path.sort()).toEqual(all);
  expect(result).toContain('108 of 120 compared, 0 breaks, 18 indeterminate');
  expect([failures, recorded]).toEqual([[], [false]]);
  expect(daily.runs).toMatchObject([
    { kind: 'reconciliation', isComplete: true, done: 108, failed: [], failure: null },
  ]);
  await recordHistory(environment.client, run.workflowId, 'reconcile');
});

it('a provider account that fails after all attempts opens an exception, and the others are compared', async () => {
  const worker = await createWorker({
    reconcilePayments: (part) => (part.accountId === 'one' ? failing() : activities.reconcilePayments(part)),
  });
  const run = await start();
  await expect(worker.runUntil(run.result())).rejects.toMatchObject({ cause: expect.any(ApplicationFailure) });
  expect(failures).toEqual([{ accountId: 'one', reason: 'PostgreSQL is not reachable' }]);
  expect(path).toHaveLength(2 * BATCHES);
  expect(recorded).toEqual([true]);
  expect(daily.runs).toMatchObject([{ isComplete: false, failed: ['account one'], failure: null }]);
  await recordHistory(environment.client, run.workflowId, 'reconcile-failed');
});

it('a run that fails at its start opens an exception', async () => {
  const worker = await createWorker({ planReconciliation: failing });
  const run = await start();
  await expect(worker.runUntil(run.result())).rejects.toThrow('Workflow execution failed');
  expect(failures).toEqual([{ accountId: null, reason: 'PostgreSQL is not reachable' }]);
  expect(daily.runs).toMatchObject([{ isComplete: false, failed: [], failure: 'PostgreSQL is not reachable' }]);
});
