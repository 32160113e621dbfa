import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { Logger } from '../observability/logger';
import { EncryptingCodec, WorkerCodec, type PayloadKeys } from '../temporal/payload-codec';
import { installRuntime } from './runtime';

/** The types of workflows/index.ts. */
const WORKFLOW_TYPES = [
  'payment',
  'latePayment',
  'webhookDelivery',
  'webhookPing',
  'reconcile',
  'retention',
  'closeDays',
  'bankAccount',
  'bankStatus',
  'payout',
  'requestScheduledPayouts',
] as const;

export interface ReplayOptions {
  readonly client: Client;
  readonly keys: PayloadKeys;
  /** The workflows of the version that is to be deployed. */
  readonly workflowBundlePath: string;
  /** Open workflows of each type, the newest first. */
  readonly maxPerType: number;
  readonly log: Logger;
  /** Called after each workflow with the number so far. */
  readonly onProgress?: (replayed: number) => void;
}

export interface FailedReplay {
  readonly workflowId: string;
  /** The reason of the failure, such as the first command that is another one than in the history. */
  readonly reason: string;
}

export interface OpenReplay {
  /** Workflows that were replayed, also those that failed. */
  readonly replayed: number;
  readonly failures: readonly FailedReplay[];
}

/**
 * Downloads the histories of open workflows and replays them with the workflow code of a bundle. It changes nothing at
 * Temporal. A worker with that code would fail the workflow tasks of the failures.
 */
export async function replayOpenWorkflows(options: ReplayOptions): Promise<OpenReplay> {
  const { client, keys, workflowBundlePath, log, onProgress = () => undefined } = options;
  installRuntime(log);
  const { namespace } = client.options;
  const results = Worker.runReplayHistories(
    {
      workflowBundle: { codePath: workflowBundlePath },
      dataConverter: { payloadCodecs: [new WorkerCodec(new EncryptingCodec(keys, namespace), log)] },
    },
    openHistories(client, options.maxPerType),
  );
  const failures: FailedReplay[] = [];
  let replayed = 0;
  for await (const result of results) {
    replayed += 1;
    if (result.error) failures.push({ workflowId: result.workflowId, reason: result.error.message });
    onProgress(replayed);
  }
  return { replayed, failures };
}

async function* openHistories(client: Client, maxPerType: number) {
  for (const type of WORKFLOW_TYPES) {
    for await (const { workflowId, runId } of openWorkflows(client, type, maxPerType)) {
      yield { workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory() };
    }
  }
}

async function* openWorkflows(client: Client, type: string, max: number): AsyncIterable<WorkflowExecutionInfo> {
  if (max === 0) return;
  let listed = 0;
  const query = `WorkflowType = '${type}' and ExecutionStatus = 'Running'`;
  for await (const workflow of client.workflow.list({ query, pageSize: Math.min(max, 1_000) })) {
    yield workflow;
    listed += 1;
    if (listed === max) return;
  }
}
