import { setTimeout as sleep } from 'node:timers/promises';
import { validate as isUuid } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import { findArchivedIds } from '../../db/operations/archive';
import {
  findCallLimit,
  findForReconciliation,
  findRecordedStatuses,
  isRetried,
  readFinalPayments,
  readOpenPayments,
  readRetriedDeliveries,
  readUnfinishedLatePayments,
  type Page,
  type ReconciledOrder,
  type ReconciledPayment,
  type RetriedDelivery,
} from '../../db/operations/list-for-reconciliation';
import { openException, type NewException } from '../../db/operations/open-exception';
import { closeFailedRun, closeReconciled, noteIndeterminateOrders } from '../../db/operations/reconciliation-findings';
import { newestNotification, scheduleStatusQuery } from '../../db/payments/notification-inbox';
import { isFinal } from '../../domain/payment-transitions';
import {
  addCoverage,
  causeOf,
  findBreaks,
  findOverdueLatePayment,
  findUnendedWorkflow,
  GRACE_MS,
  LOST_RETRIES,
  needsException,
  NOTHING_COVERED,
  ORPHANED_WORKFLOW,
  scanAfter,
  type Break,
  type FoundBreak,
  type ProviderRecord,
  type ReconciliationBatch,
  type ReconciliationPart,
} from '../../domain/reconciliation';
import { forEachConcurrent } from '../../lib/for-each-concurrent';
import type { OrderKey, Provider } from '../../providers/provider';
import type { ProviderRegistry } from '../../providers/registry';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { ListedWorkflow } from '../../temporal/workflow-records';
import { checkOpenPayouts, checkPayoutWorkflows, checkRestingPayouts, type PageResult } from './check-payouts';
import { StatusQueries } from './status-queries';

export interface ReconcileDependencies {
  readonly db: Queryable;
  readonly providers: ProviderRegistry;
  readonly workflows: PaymentWorkflowClient;
  /** Whether recovery mode is on (`readRecoveryMode`). */
  readonly isRecovering?: boolean;
}

/** Calls in flight to Temporal and to a provider account, for each part. */
const CONCURRENCY = 32;
const PROVIDER_TIMEOUT_MS = 10_000;
/** A payment may change while it is compared: a break counts only if it still exists after this delay. */
const RECHECK_DELAY_MS = 3_000;
/** An order whose status is indeterminate in so many runs opens an exception. */
const REPORTED_AFTER_RUNS = 3;
const INDETERMINATE = `the provider or Temporal returned no determinate status in ${REPORTED_AFTER_RUNS} runs`;

interface BatchLimits {
  readonly durationMs: number;
  /** Aborted when the process stops. The batch then ends before the page that is being compared. */
  readonly stopSignal: AbortSignal;
}

/**
 * Continues a part of a run, page by page, for about `durationMs`. A second comparison confirms each break. If a status
 * query resolves the break, the workflow is notified; otherwise an exception is opened. Reconciliation changes no
 * payment.
 */
export async function reconcileBatch(
  dependencies: ReconcileDependencies,
  part: ReconciliationPart,
  { durationMs, stopSignal }: BatchLimits,
): Promise<ReconciliationBatch> {
  const untilMs = Date.now() + durationMs;
  const { accountId } = part;
  const queries = new StatusQueries(accountId === null ? null : await findCallLimit(dependencies.db, accountId));
  const breaks: FoundBreak[] = [];
  let coverage = NOTHING_COVERED;
  let next: ReconciliationBatch['next'] = part.position;
  do {
    const page = await unlessStopped(
      reconcilePage({ ...dependencies, queries, stopSignal }, { ...part, position: next }),
      stopSignal,
    );
    if (!page) break;
    coverage = addCoverage(coverage, { ...page, breaks: page.breaks.length });
    breaks.push(...page.breaks);
    next = page.next === null ? scanAfter(next.scan) : { scan: next.scan, after: page.next };
  } while (next !== null && Date.now() < untilMs);
  if (next === null && coverage.unasked === 0) await closeFailedRun(dependencies.db, accountId);
  return { next, coverage, breaks };
}

/** @returns undefined if the process stops: another one compares the whole page again */
async function unlessStopped(page: Promise<PageResult>, stopSignal: AbortSignal): Promise<PageResult | undefined> {
  try {
    const result = await page;
    return stopSignal.aborted ? undefined : result;
  } catch (error) {
    if (!stopSignal.aborted) throw error;
    return undefined;
  }
}

interface BatchDependencies extends ReconcileDependencies {
  readonly queries: StatusQueries;
  readonly stopSignal: AbortSignal;
}

async function reconcilePage(dependencies: BatchDependencies, part: ReconciliationPart): Promise<PageResult> {
  const { db } = dependencies;
  const { position } = part;
  const changedSince = new Date(part.changedSinceMs);
  switch (position.scan) {
    case 'open': {
      const accountId = accountIn(part);
      return comparePayments(dependencies, accountId, await readOpenPayments(db, accountId, position.after));
    }
    case 'final': {
      const accountId = accountIn(part);
      const page = await readFinalPayments(db, accountId, changedSince, position.after);
      return comparePayments(dependencies, accountId, page);
    }
    case 'late':
      return checkLatePayments(dependencies, position.after);
    case 'deliveries':
      return checkDeliveries(dependencies, position.after);
    case 'workflows':
      return checkWorkflows(dependencies, changedSince, position.after);
    case 'open_payouts':
      return checkOpenPayouts(dependencies, position.after);
    case 'resting_payouts':
      return checkRestingPayouts(dependencies, part, position.after);
    case 'payout_workflows':
      return checkPayoutWorkflows(dependencies, changedSince, position.after);
  }
}

function accountIn({ accountId, position }: ReconciliationPart): string {
  if (accountId === null) throw new Error(`The scan "${position.scan}" needs a provider account`);
  return accountId;
}

/** Whether the provider and Temporal returned a determinate result for a payment. */
type Result = 'compared' | 'indeterminate' | 'unasked';

interface Comparison {
  readonly payment: ReconciledPayment;
  readonly breaks: readonly Break[];
  readonly result: Result;
}

async function comparePayments(
  dependencies: BatchDependencies,
  accountId: string,
  { items, next }: Page<ReconciledPayment>,
): Promise<PageResult> {
  const { db } = dependencies;
  const comparisons = await compareTwice(dependencies, items);
  const count = (wanted: Result) => comparisons.filter(({ result }) => result === wanted).length;
  await reportIndeterminate(db, comparisons);
  const clean = comparisons.filter(({ result, breaks }) => result === 'compared' && breaks.length === 0);
  await closeReconciled(
    db,
    accountId,
    clean.map(({ payment: { id, referenceId } }) => ({ paymentId: id, referenceId })),
  );
  const breaks: FoundBreak[] = [];
  for (const { payment, breaks: found, result } of comparisons) {
    for (const each of found) breaks.push(await followUp(db, orderOf(payment), each, result === 'compared'));
  }
  return {
    next,
    seen: items.length,
    compared: count('compared'),
    indeterminate: count('indeterminate'),
    unasked: count('unasked'),
    breaks,
  };
}

/** Payments with a break are compared again a few seconds later: they may have changed while they were compared. */
async function compareTwice(
  dependencies: BatchDependencies,
  payments: readonly ReconciledPayment[],
): Promise<Comparison[]> {
  const { db, queries, stopSignal } = dependencies;
  const inFlight = Math.min(CONCURRENCY, queries.perSecond);
  const comparisons: Comparison[] = [];
  const candidates: ReconciledPayment[] = [];
  await forEachConcurrent(payments, inFlight, async (payment) => {
    const comparison = await compare(dependencies, payment);
    if (comparison.breaks.length > 0) candidates.push(payment);
    else comparisons.push(comparison);
  });
  if (candidates.length > 0) await sleep(RECHECK_DELAY_MS, undefined, { signal: stopSignal });
  await forEachConcurrent(candidates, inFlight, async ({ id }) => {
    // Read now: with a small limit of calls the payment may have waited for seconds, and have changed.
    const payment = await findForReconciliation(db, id);
    if (payment) comparisons.push(await compare(dependencies, payment));
  });
  return comparisons;
}

/** An order without a determinate status does not make a run incomplete. After some runs it opens an exception. */
async function reportIndeterminate(db: Queryable, comparisons: readonly Comparison[]): Promise<void> {
  const indeterminate = comparisons.filter(({ result }) => result === 'indeterminate');
  const reported = await noteIndeterminateOrders(
    db,
    indeterminate.map(({ payment }) => payment.id),
    REPORTED_AFTER_RUNS,
  );
  for (const { payment } of indeterminate) {
    if (reported.has(payment.id)) await openReconciliationException(db, orderOf(payment), { detail: INDETERMINATE });
  }
}

function orderOf({ id, referenceId, providerAccountId, recorded }: ReconciledPayment): ReconciledOrder {
  return { paymentId: id, referenceId, providerAccountId, totalRupiah: recorded.totalRupiah };
}

async function compare(
  { providers, workflows, queries, stopSignal, isRecovering }: BatchDependencies,
  payment: ReconciledPayment,
): Promise<Comparison> {
  stopSignal.throwIfAborted();
  const { id, providerAccountId, recorded } = payment;
  const [order, workflow] = await Promise.all([
    findOrder(await providers.forAccount(providerAccountId), orderKeyOf(payment), { queries, stopSignal }),
    workflows.records.describe(id).catch(() => 'indeterminate' as const),
  ]);
  const breaks = findBreaks(recorded, order === 'unasked' ? 'indeterminate' : order, workflow, Date.now());
  return {
    payment,
    // Workers in recovery mode do not settle or refund, so an overdue payment is no break.
    breaks: isRecovering ? breaks.filter(({ kind }) => kind !== 'overdue') : breaks,
    result: resultOf(order, workflow),
  };
}

function resultOf(order: unknown, workflow: unknown): Result {
  if (order === 'unasked') return 'unasked';
  return order === 'indeterminate' || workflow === 'indeterminate' ? 'indeterminate' : 'compared';
}

function orderKeyOf({ referenceId, recorded: { providerTransactionId, totalRupiah } }: ReconciledPayment): OrderKey {
  return {
    referenceId,
    issued: providerTransactionId === null ? null : { transactionId: providerTransactionId, totalRupiah },
  };
}

async function findOrder(
  provider: Provider,
  order: OrderKey,
  { queries, stopSignal }: Pick<BatchDependencies, 'queries' | 'stopSignal'>,
): Promise<ProviderRecord | 'indeterminate' | 'unasked' | null> {
  const found = await queries.find(() =>
    provider.findPayment(order, { signal: stopSignal, deadlineAtMs: Date.now() + PROVIDER_TIMEOUT_MS }),
  );
  if (found.outcome === 'found') return found.payment;
  return found.outcome === 'not_found' ? null : found.outcome;
}

async function checkLatePayments({ db, isRecovering }: BatchDependencies, after: string | null): Promise<PageResult> {
  const { items, next } = await readUnfinishedLatePayments(db, after);
  const breaks: FoundBreak[] = [];
  for (const late of items) {
    const overdue = findOverdueLatePayment(late.status, late.since.getTime(), Date.now());
    for (const found of isRecovering ? [] : overdue) breaks.push(await followUp(db, late, found));
  }
  return { next, seen: items.length, compared: items.length, indeterminate: 0, unasked: 0, breaks };
}

async function checkDeliveries(
  { db, workflows, stopSignal }: BatchDependencies,
  after: string | null,
): Promise<PageResult> {
  const { items, next } = await readRetriedDeliveries(db, new Date(Date.now() - GRACE_MS), after);
  let indeterminate = 0;
  const breaks: FoundBreak[] = [];
  await forEachConcurrent(items, CONCURRENCY, async (delivery) => {
    stopSignal.throwIfAborted();
    const isRetryWorkflowRunning = await workflows.retries
      .isRunning(delivery.deliveryId)
      .catch(() => 'indeterminate' as const);
    if (isRetryWorkflowRunning === 'indeterminate') indeterminate += 1;
    // The retry workflow may have completed since the page was read.
    else if (!isRetryWorkflowRunning && (await isRetried(db, delivery.deliveryId))) {
      const { subjectId: paymentId, referenceId } = delivery;
      await openReconciliationException(db, delivery, causeOf(LOST_RETRIES));
      breaks.push({ ...LOST_RETRIES, paymentId, referenceId });
    }
  });
  return { next, seen: items.length, compared: items.length - indeterminate, indeterminate, unasked: 0, breaks };
}

async function checkWorkflows(
  { db, workflows }: BatchDependencies,
  changedSince: Date,
  after: string | null,
): Promise<PageResult> {
  // The next run checks workflows that have just started or just completed.
  const before = new Date(Date.now() - GRACE_MS);
  const { items, next } = await workflows.records.list(changedSince, before, after);
  const ids = items.map(({ paymentId }) => paymentId).filter((id) => isUuid(id));
  const recorded = new Map((await findRecordedStatuses(db, ids)).map((payment) => [payment.paymentId, payment]));
  const archivedIds = await findArchivedIds(db, ids);
  const breaks: FoundBreak[] = [];
  for (const workflow of items) {
    const payment = recorded.get(workflow.paymentId);
    if (archivedIds.has(workflow.paymentId) && !workflow.isRunning) continue;
    if (!payment) breaks.push(await reportOrphan(db, workflow));
    // The scan over final payments compares recently changed ones.
    else if (workflow.isRunning && isFinal(payment.status) && payment.updatedAt < changedSince) {
      breaks.push(await followUp(db, payment, findUnendedWorkflow(payment.status)));
    }
  }
  return { next, seen: items.length, compared: items.length, indeterminate: 0, unasked: 0, breaks };
}

async function reportOrphan(db: Queryable, { workflowId, paymentId }: ListedWorkflow): Promise<FoundBreak> {
  await openException(db, { kind: 'reconciliation', referenceId: workflowId, ...causeOf(ORPHANED_WORKFLOW) });
  return { ...ORPHANED_WORKFLOW, paymentId, referenceId: workflowId };
}

async function followUp(
  db: Queryable,
  order: ReconciledOrder,
  found: Break,
  isProviderDeterminate = true,
): Promise<FoundBreak> {
  const { paymentId, referenceId, providerAccountId } = order;
  if (found.isResolvedByStatusQuery) {
    // The sweeper repeats an open notification anyway.
    const isRequested = (await newestNotification(db, { providerAccountId, referenceId })) !== null;
    if (!isRequested) await scheduleStatusQuery(db, { accountId: providerAccountId, referenceId });
  } else if (needsException(found, isProviderDeterminate, Date.now())) {
    await openReconciliationException(db, order, causeOf(found));
  }
  return { ...found, paymentId, referenceId };
}

function openReconciliationException(
  db: Queryable,
  { paymentId, referenceId, providerAccountId, totalRupiah }: ReconciledOrder | RetriedDelivery,
  found: Pick<NewException, 'detail' | 'cause'>,
): Promise<void> {
  const order = { referenceId, providerAccountId, paymentId, amountRupiah: totalRupiah };
  return openException(db, { kind: 'reconciliation', ...order, ...found });
}
