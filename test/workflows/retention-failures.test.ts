import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { RetentionInput } from '../../activities/retention';
import { EXPIRING_DATA, type RetentionRun } from '../../src/domain/retention';
import { retention } from '../../workflows/retention';
import { collectRuns } from '../support/daily-runs';
import { recordHistory } from '../support/history';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../support/temporal';

const TASK_QUEUE = 'retention-test';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

it('a kind of data that fails for an hour does not stop the others; the run is not complete, and fails', async () => {
  const runs: RetentionRun[] = [];
  const slices: string[] = [];
  const daily = collectRuns();
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: {
      ...daily.activities,
      deleteExpired: async ({ data, from }: RetentionInput) => {
        if (data === 'webhook_deliveries') throw new Error('canceling statement due to statement timeout');
        slices.push(`${data} from ${from?.[0] ?? 'the last run'}`);
        const isKept = data === 'webhook_events';
        return {
          deleted: 7,
          isDone: from !== undefined,
          reached: [from ? 'row 14' : 'row 7'],
          firstKept: isKept && from === undefined ? ['row 3'] : null,
        };
      },
      recordRetention: async (run: RetentionRun) => {
        runs.push(run);
      },
    },
    maxCachedWorkflows: 0,
  });
  const workflowId = `retention-${randomUUID()}`;
  const started = { workflowId, taskQueue: TASK_QUEUE };
  const run = worker.runUntil(environment.client.workflow.execute(retention, started));
  await expect(run).rejects.toMatchObject({
    cause: { message: expect.stringContaining('webhook_deliveries: 0 deleted, then failed: canceling statement') },
  });
  const [, ...others] = EXPIRING_DATA;
  expect(slices).toEqual(others.flatMap((data) => [`${data} from the last run`, `${data} from row 7`]));
  expect(runs).toEqual([
    {
      startedAtMs: expect.any(Number),
      isComplete: false,
      deleted: { webhook_deliveries: 0, ...Object.fromEntries(others.map((data) => [data, 14])) },
      positions: {
        ...Object.fromEntries(others.map((data) => [data, ['row 14']])),
        webhook_events: ['row 3'],
      },
    },
  ]);
  expect(daily.runs).toMatchObject([{ kind: 'retention', isComplete: false, failed: ['webhook_deliveries'] }]);
  await recordHistory(environment.client, workflowId, 'retention-failed');
});
