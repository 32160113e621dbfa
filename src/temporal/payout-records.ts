import { z } from 'zod';
import { payoutWorkflowId, toPayoutId } from '../../workflows/ids';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type { Page } from '../db/operations/list-for-reconciliation';
import { SYSTEM_NAMES } from '../domain/actor';
import { RAILS } from '../domain/payout-rails';
import type { PayoutRequestInput } from '../domain/payout-step';
import type { WorkflowRecord } from '../domain/reconciliation';
import type { BoundedClient } from './bounded-client';
import { decodeAll, millisecondsOf } from './creation-history';
import { readWorkflowPage } from './workflow-records';

/** The workflow of a payout, as Temporal's visibility lists it. */
export interface ListedPayoutWorkflow {
  readonly workflowId: string;
  /** Any text if an operator started the workflow under another id. */
  readonly payoutId: string;
  readonly isRunning: boolean;
}

/** The request of a payout as its workflow started with it: enough to write the payout's row again. */
export interface RecordedPayoutRequest {
  readonly request: PayoutRequestInput;
  readonly requestedAtMs: number;
}

const rupiah = z.int().nonnegative();
const actorText = z.union([
  z.templateLiteral([z.enum(['operator', 'cli', 'user', 'key']), ':', z.string()]),
  z.enum(SYSTEM_NAMES),
]);

const requestSchema = z.object({
  payoutId: z.uuid(),
  referenceId: z.string(),
  merchantId: z.uuid(),
  bankAccountId: z.uuid(),
  providerAccountId: z.uuid(),
  grossRupiah: rupiah,
  feeRupiah: rupiah,
  amountRupiah: rupiah,
  rail: z.enum(RAILS),
  payoutPolicyId: z.int(),
  // A request of the version before has none: it began with the oldest line.
  afterPostingId: z.int().default(0),
  upToPostingId: z.int(),
  by: z.object({ name: actorText, note: z.string().exactOptional() }),
}) satisfies z.ZodType<PayoutRequestInput>;

/** The input of a run. A run that continues a payout has no request. */
const inputSchema = z.object({
  request: requestSchema.optional(),
  lost: z.object({ requestedAtMs: z.int() }).optional(),
});

/** A run sets it when it has read or written its row. */
const HAS_ROW = `${SEARCH_ATTRIBUTES.payoutStatus.name} is not null`;

/** What Temporal has recorded of the payouts' workflows, whether a worker runs or not. */
export class PayoutRecords {
  constructor(private readonly client: BoundedClient) {}

  /** Whether the payout's workflow runs, and its status; null if Temporal has no such workflow. */
  async describe(payoutId: string): Promise<WorkflowRecord | null> {
    const described = await this.client.callWorkflow(payoutWorkflowId(payoutId), (handle) => handle.describe());
    if (!described) return null;
    const status = described.typedSearchAttributes.get(SEARCH_ATTRIBUTES.payoutStatus) ?? null;
    return { isRunning: described.closeTime === undefined, status };
  }

  /**
   * A page of the payouts' workflows that were started before `until` and run, or were started since `since`. One that
   * has not written its row yet, or whose request was rejected, is none of them.
   */
  async list(since: Date, until: Date, after: string | null): Promise<Page<ListedPayoutWorkflow>> {
    const condition = `WorkflowType = 'payout' and ${HAS_ROW}`;
    const { items, next } = await readWorkflowPage(this.client, condition, { since, until, after });
    return {
      items: items.map(({ workflowId, isRunning }) => ({ workflowId, isRunning, payoutId: toPayoutId(workflowId) })),
      next,
    };
  }

  /**
   * The request in the history of the payout's first run with a row. One that was rejected before or later is another.
   * @throws Error if Temporal does not have that run any more
   */
  async readRequest(payoutId: string): Promise<RecordedPayoutRequest> {
    const workflowId = payoutWorkflowId(payoutId);
    const runIds: string[] = [];
    // The newest first.
    for await (const { runId } of this.client.list(`WorkflowId = '${workflowId}' and ${HAS_ROW}`)) runIds.push(runId);
    for (const runId of runIds.toReversed()) {
      const recorded = await this.#requestOf(workflowId, runId);
      if (recorded) return recorded;
    }
    throw new Error('Temporal does not have the run that its request has started');
  }

  #requestOf(workflowId: string, runId: string): Promise<RecordedPayoutRequest | undefined> {
    return this.client.call(async ({ workflow, options }) => {
      const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
      const [first] = events ?? [];
      const payloads = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
      const context = { type: 'workflow', namespace: options.namespace, workflowId } as const;
      const [input] = await decodeAll(options.loadedDataConverter, payloads, context);
      const { request, lost } = inputSchema.parse(input);
      return request && { request, requestedAtMs: lost?.requestedAtMs ?? millisecondsOf(first?.eventTime) };
    });
  }
}
