import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { PAYMENT_STATUSES } from '../domain/payment-transitions';
import { PAYOUT_STATUSES } from '../domain/payout-transitions';
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
type WorkflowType = (typeof WORKFLOW_TYPES)[number];

export interface ReplayOptions {
  readonly client: Client;
  readonly keys: PayloadKeys;
  /** The workflows of the version that is to be deployed. */
  readonly workflowBundlePath: string;
  /** Open workflows of each type, of each status and age. */
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
    for await (const { workflowId, runId } of sampleOpenWorkflows(client, type, maxPerType)) {
      yield { workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory() };
    }
  }
}

/** Where the code of a workflow continues depends on its status, and which code began it on its age. */
const STATUSES: Readonly<Partial<Record<WorkflowType, { attribute: string; values: readonly string[] }>>> = {
  payment: { attribute: SEARCH_ATTRIBUTES.paymentStatus.name, values: PAYMENT_STATUSES },
  payout: { attribute: SEARCH_ATTRIBUTES.payoutStatus.name, values: PAYOUT_STATUSES },
};
const RUNNING = "ExecutionStatus = 'Running'";
const HOUR_MS = 3_600_000;
const AGE_LIMITS_MS = [HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS];

/** Open workflows of a type: one of each status and age, the newest of it, and so on until there are as many. */
export async function* sampleOpenWorkflows(
  client: Client,
  type: WorkflowType,
  max: number,
): AsyncIterable<WorkflowExecutionInfo> {
  const pageSize = Math.min(max, 1_000);
  const queries = statusConditions(type).flatMap((status) => ageConditions().map((age) => and(RUNNING, status, age)));
  let lists = queries.map((condition) => {
    const query = and(`WorkflowType = '${type}'`, condition);
    return client.workflow.list({ query, pageSize })[Symbol.asyncIterator]();
  });
  for (let listed = 0; listed < max && lists.length > 0;) {
    const rest: typeof lists = [];
    for (const list of lists) {
      if (listed === max) return;
      const { done, value } = await list.next();
      if (done) continue;
      yield value;
      listed += 1;
      rest.push(list);
    }
    lists = rest;
  }
}

/** A workflow has no status before its first step. Some types have none. */
function statusConditions(type: WorkflowType): string[] {
  const status = STATUSES[type];
  if (status === undefined) return [''];
  return [`${status.attribute} is null`, ...status.values.map((value) => `${status.attribute} = '${value}'`)];
}

function ageConditions(): string[] {
  const limits = AGE_LIMITS_MS.map((ageMs) => new Date(Date.now() - ageMs).toISOString());
  const before = ['', ...limits.map((limit) => `StartTime < '${limit}'`)];
  const since = [...limits.map((limit) => `StartTime >= '${limit}'`), ''];
  return before.map((condition, index) => and(condition, since[index] ?? ''));
}

function and(...conditions: readonly string[]): string {
  return conditions.filter((condition) => condition !== '').join(' and ');
}
