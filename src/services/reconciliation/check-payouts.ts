import { validate as isUuid } from 'uuid';
import { payoutWorkflowId, toPayoutId } from '../../../workflows/ids';
import type { Queryable } from '../../db/connection/pool';
import type { Page } from '../../db/operations/list-for-reconciliation';
import { openException } from '../../db/operations/open-exception';
import { closeOrphans, listOpenOrphans } from '../../db/operations/reconciliation-findings';
import { findPayoutStatuses, isLostForGood } from '../../db/payouts/list-open-payouts';
import {
  readOpenPayouts,
  readRestingPayouts,
  type ReconciledPayout,
} from '../../db/payouts/payouts-for-reconciliation';
import {
  causeOf,
  findPayoutBreaks,
  GRACE_MS,
  ORPHANED_PAYOUT,
  type Coverage,
  type FoundBreak,
  type ReconciliationTimes,
  type WorkflowRecord,
} from '../../domain/reconciliation';
import { forEachConcurrent } from '../../lib/for-each-concurrent';
import type { PayoutClient } from '../../temporal/payout-client';

/** Calls in flight to Temporal. */
const CONCURRENCY = 32;

interface PayoutDependencies {
  readonly db: Queryable;
  readonly workflows: { readonly payouts: PayoutClient };
  readonly stopSignal: AbortSignal;
}

/** A page of a scan that was compared. */
export interface PageResult extends Omit<Coverage, 'breaks'> {
  readonly next: string | null;
  readonly breaks: readonly FoundBreak[];
}

/**
 * Makes the workflow of each payout look at the bank: only the worker of payouts may ask there. The workflow records
 * what the bank reports. A workflow that is missing is started by that.
 */
async function askBank(
  { workflows, stopSignal }: PayoutDependencies,
  { items, next }: Page<ReconciledPayout>,
): Promise<PageResult> {
  const breaks: FoundBreak[] = [];
  let indeterminate = 0;
  await forEachConcurrent(items, CONCURRENCY, async (payout) => {
    stopSignal.throwIfAborted();
    const workflow = await askWorkflow(workflows.payouts, payout);
    if (workflow === 'indeterminate') {
      indeterminate += 1;
      return;
    }
    const { payoutId: paymentId, referenceId } = payout;
    for (const found of findPayoutBreaks(payout, workflow, Date.now()))
      breaks.push({ ...found, paymentId, referenceId });
  });
  return { next, seen: items.length, compared: items.length - indeterminate, indeterminate, unasked: 0, breaks };
}

/** The workflow before it was signalled. */
async function askWorkflow(
  payouts: PayoutClient,
  payout: ReconciledPayout,
): Promise<WorkflowRecord | 'indeterminate' | null> {
  try {
    const workflow = await payouts.records.describe(payout.payoutId);
    await payouts.notify(payout);
    return workflow;
  } catch {
    return 'indeterminate';
  }
}

export async function checkOpenPayouts(dependencies: PayoutDependencies, after: string | null): Promise<PageResult> {
  return askBank(dependencies, await readOpenPayouts(dependencies.db, after));
}

export async function checkRestingPayouts(
  dependencies: PayoutDependencies,
  times: ReconciliationTimes,
  after: string | null,
): Promise<PageResult> {
  return askBank(dependencies, await readRestingPayouts(dependencies.db, times, after));
}

/** Closes the exceptions of earlier runs about payouts that PostgreSQL has again. */
async function closeFoundPayouts(db: Queryable): Promise<void> {
  const orphans = await listOpenOrphans(db, payoutWorkflowId(''));
  const found = await findPayoutStatuses(db, orphans.map(toPayoutId));
  await closeOrphans(
    db,
    orphans.filter((workflowId) => found.has(toPayoutId(workflowId))),
  );
}

/** Whether a payout is decided. It is not known without the request: then the workflow is a break. */
async function isDecided({ db, workflows }: Omit<PayoutDependencies, 'stopSignal'>, payoutId: string) {
  const lost = await workflows.payouts.records.readRequest(payoutId).catch(() => null);
  return lost !== null && (await isLostForGood(db, lost.request.referenceId));
}

/** Workflows whose payout PostgreSQL does not have: `recover` writes it again, unless an operator has decided it. */
export async function checkPayoutWorkflows(
  { db, workflows }: PayoutDependencies,
  changedSince: Date,
  after: string | null,
): Promise<PageResult> {
  if (after === null) await closeFoundPayouts(db);
  const before = new Date(Date.now() - GRACE_MS);
  const { items, next } = await workflows.payouts.records.list(changedSince, before, after);
  const listed = items.filter(({ payoutId }) => isUuid(payoutId));
  const recorded = await findPayoutStatuses(
    db,
    listed.map(({ payoutId }) => payoutId),
  );
  const breaks: FoundBreak[] = [];
  for (const { workflowId, payoutId } of listed.filter((workflow) => !recorded.has(workflow.payoutId))) {
    if (await isDecided({ db, workflows }, payoutId)) {
      await closeOrphans(db, [workflowId]);
      continue;
    }
    await openException(db, { kind: 'reconciliation', referenceId: workflowId, ...causeOf(ORPHANED_PAYOUT) });
    breaks.push({ ...ORPHANED_PAYOUT, paymentId: payoutId, referenceId: workflowId });
  }
  return { next, seen: items.length, compared: items.length, indeterminate: 0, unasked: 0, breaks };
}
