import type { WorkflowExecutionDescription } from '@temporalio/client';
import { optionalTsToDate } from '@temporalio/common/lib/time';
import { paymentWorkflowId, toPaymentId } from '../../workflows/ids';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type { Page } from '../db/operations/list-for-reconciliation';
import type { WorkflowRecord } from '../domain/reconciliation';
import { PROVIDER_INDETERMINATE, type RetriedStep } from '../domain/retried-step';
import type { BoundedClient } from './bounded-client';
import { creationIn, type RecordedCreation } from './creation-history';

/** A payment's workflow, as Temporal's visibility lists it. */
export interface ListedWorkflow {
  readonly workflowId: string;
  /** Any text if an operator started the workflow under another id. */
  readonly paymentId: string;
  readonly isRunning: boolean;
}

export type WorkflowPage = Page<ListedWorkflow>;

/** How the last run of a workflow ended: `terminated`, `completed`, `failed`, `timed_out`, `cancelled`. */
export interface ClosedRun {
  readonly state: string;
  readonly closedAt: Date;
}

/** A payment whose workflow needs an operator, as Temporal's visibility lists it. */
export interface WorkflowNeedingAttention {
  readonly workflowId: string;
  readonly referenceId: string;
  readonly merchantId: string | null;
  readonly startedAt: Date;
  /** Null if no step is being repeated; undefined if the workflow was not looked at. */
  readonly retriedStep?: RetriedStep | null;
}

/** A workflow that Temporal lists. */
export interface StartedWorkflow {
  readonly workflowId: string;
  readonly startedAt: Date;
  /** `running`, or how it closed. */
  readonly state: string;
}

/** The last run of a workflow. */
interface DescribedRun {
  /** Null while it runs. */
  readonly closed: ClosedRun | null;
  /** Null if no step is being repeated. */
  readonly retriedStep: RetriedStep | null;
}

export interface DescribedWorkflow extends WorkflowRecord, DescribedRun {}

type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

const PAGE_SIZE = 500;

/** How many of the workflows that need an operator are looked at. */
const MAX_DESCRIBED = 25;

/** What Temporal has recorded of the payments' workflows, whether a worker runs or not. */
export class WorkflowRecords {
  constructor(private readonly client: BoundedClient) {}

  /** Whether the payment's workflow runs, and its status; null if Temporal has no such workflow. */
  async describe(paymentId: string): Promise<DescribedWorkflow | null> {
    const described = await this.client.callWorkflow(paymentWorkflowId(paymentId), (handle) => handle.describe());
    if (!described) return null;
    const paymentStatus = described.typedSearchAttributes.get(SEARCH_ATTRIBUTES.paymentStatus) ?? null;
    const run = toDescribedRun(described);
    return { isRunning: run.closed === null, status: paymentStatus, ...run };
  }

  /**
   * The newest run of a payment's workflow, whether a worker has seen it or not; null if Temporal lists none.
   * @param idOrReference of the form of one: it becomes a part of a query
   */
  findStarted(idOrReference: string): Promise<StartedWorkflow | null> {
    const query = idOrReference.startsWith('LN')
      ? `WorkflowType = 'payment' and ${SEARCH_ATTRIBUTES.referenceId.name} = '${idOrReference}'`
      : `WorkflowId = '${paymentWorkflowId(idOrReference)}'`;
    return this.client.call(async ({ workflow }) => {
      for await (const { workflowId, startTime, status } of workflow.list({ query, pageSize: 1 })) {
        return { workflowId, startedAt: startTime, state: status.name.toLowerCase() };
      }
      return null;
    });
  }

  /**
   * A page of the payments' workflows that were started before `until` and run, or were started since `since`, as far
   * as Temporal's visibility has them. `after` is the `next` of the page before.
   */
  async list(since: Date, until: Date, after: string | null): Promise<WorkflowPage> {
    const { items, next } = await readWorkflowPage(this.client, "WorkflowType = 'payment'", { since, until, after });
    return {
      items: items.map(({ workflowId, isRunning }) => ({ workflowId, isRunning, paymentId: toPaymentId(workflowId) })),
      next,
    };
  }

  /**
   * Running workflows of payments and of payouts whose search attribute `NeedsAttention` is true, at most `limit` of
   * each. Some of them are looked at: many have few causes.
   */
  async listNeedingAttention(limit: number): Promise<WorkflowNeedingAttention[]> {
    const found = await Promise.all([
      this.#findNeedingAttention("WorkflowType != 'payout'", limit),
      this.#findNeedingAttention("WorkflowType = 'payout'", limit),
    ]);
    return (await Promise.all(found.map((all) => this.#describeSome(all)))).flat();
  }

  async #describeSome(all: readonly WorkflowNeedingAttention[]): Promise<WorkflowNeedingAttention[]> {
    // Among the newest and the oldest, and between them.
    const step = Math.ceil(all.length / MAX_DESCRIBED);
    return Promise.all(
      all.map(async (one, index) => {
        if (index % step !== 0) return one;
        const described = await this.client.callWorkflow(one.workflowId, (handle) => handle.describe());
        return { ...one, retriedStep: (described && toDescribedRun(described).retriedStep) ?? null };
      }),
    );
  }

  #findNeedingAttention(condition: string, limit: number) {
    const { needsAttention, referenceId } = SEARCH_ATTRIBUTES;
    const query = `${needsAttention.name} = true and ${referenceId.name} is not null and ExecutionStatus = 'Running'
        and ${condition}`;
    return this.client.call(async ({ workflow }) => {
      const found: WorkflowNeedingAttention[] = [];
      for await (const { workflowId, startTime, typedSearchAttributes } of workflow.list({ query, pageSize: limit })) {
        found.push({
          workflowId,
          referenceId: typedSearchAttributes.get(referenceId) ?? '',
          merchantId: typedSearchAttributes.get(SEARCH_ATTRIBUTES.merchantId) ?? null,
          startedAt: startTime,
        });
        if (found.length === limit) break;
      }
      return found;
    });
  }

  /** The input of the latest run of a payment's workflow, and what it has recorded of the creation. */
  readCreation(paymentId: string): Promise<RecordedCreation> {
    return this.client.call(async ({ workflow, options }) => {
      const workflowId = paymentWorkflowId(paymentId);
      const history = await workflow.getHandle(workflowId).fetchHistory();
      const { namespace, loadedDataConverter } = options;
      return creationIn(history, loadedDataConverter, { type: 'workflow', namespace, workflowId });
    });
  }
}

interface WorkflowPageKey {
  readonly since: Date;
  readonly until: Date;
  readonly after: string | null;
}

/** A page of the workflows that were started before `until` and run, or were started since `since`. */
export async function readWorkflowPage(
  client: BoundedClient,
  condition: string,
  { since, until, after }: WorkflowPageKey,
): Promise<Page<Omit<ListedWorkflow, 'paymentId'>>> {
  const { executions, nextPageToken } = await client.call(({ workflowService, options }) =>
    workflowService.listWorkflowExecutions({
      namespace: options.namespace,
      query: `${condition} and StartTime < '${until.toISOString()}'
          and (ExecutionStatus = 'Running' or StartTime >= '${since.toISOString()}')`,
      pageSize: PAGE_SIZE,
      nextPageToken: after === null ? null : Buffer.from(after, 'base64'),
    }),
  );
  const items = executions.map(({ execution, closeTime }) => ({
    workflowId: execution?.workflowId ?? '',
    isRunning: !closeTime,
  }));
  return { items, next: nextPageToken.length === 0 ? null : Buffer.from(nextPageToken).toString('base64') };
}

export function toDescribedRun({ closeTime: closedAt, status, raw }: WorkflowExecutionDescription): DescribedRun {
  const closed = closedAt ? { state: status.name.toLowerCase(), closedAt } : null;
  const retriedStep = (raw.pendingActivities ?? []).map(toRetriedStep).find((step) => step !== null);
  return { closed, retriedStep: retriedStep ?? null };
}

/** Null if no attempt has failed. */
function toRetriedStep(pending: PendingActivity): RetriedStep | null {
  const { activityType, attempt, lastFailure, nextAttemptScheduleTime } = pending;
  if (!lastFailure) return null;
  return {
    activity: activityType?.name ?? '',
    // Temporal has the number of the attempt that runs or comes next.
    attempt: (attempt ?? 1) - 1,
    failure: lastFailure.message ?? '',
    isOfProvider: lastFailure.applicationFailureInfo?.type === PROVIDER_INDETERMINATE,
    nextAttemptAt: optionalTsToDate(nextAttemptScheduleTime) ?? null,
  };
}
