import { setTimeout as sleep } from 'node:timers/promises';
import { validate as isUuid } from 'uuid';
import { findOpening } from '../db/reads/find-opening';
import { findNewestCreation } from '../db/reads/find-newest-creation';
import { findRecordedStatuses } from '../db/reads/list-for-reconciliation';
import {
  listHandedOverDeliveries,
  listUnfinishedLatePayments,
  listUnfinishedPayments,
  type UnfinishedPayment,
} from '../db/reads/list-unfinished';
import type { TransitionContext } from '../db/transitions/apply-transition';
import { readState } from '../db/transitions/payment-state';
import { isFinal, PAYMENT_STATUSES } from '../domain/payment-transitions';
import type { ListedWorkflow, PaymentsEngine, WorkflowPage } from '../engine/payments-engine';
import { sideBySide } from '../engine/side-by-side';
import { findKnownDeliveries, takeDeliveryBack } from '../webhooks/deliveries';
import { rebuildPayment } from './rebuild-payment';

/** What became of one thing: nothing was wrong, it was rebuilt, or its workflow was signalled to catch up. */
export type RecoveredAs = 'running' | 'rebuilt' | 'notified';

export type RecoveryCounts = Readonly<Record<RecoveredAs, number>>;

export interface Recovery {
  /** Rows that PostgreSQL had lost, and workflows that ran although their payment is final. */
  readonly rows: RecoveryCounts;
  readonly payments: RecoveryCounts;
  readonly latePayments: RecoveryCounts;
  readonly deliveries: RecoveryCounts;
  /** What could not be recovered, and why: run it again, or look at it. */
  readonly failures: readonly RecoveryFailure[];
}

export interface RecoveryFailure {
  /** The id of a payment or a delivery. */
  readonly id: string;
  readonly reason: string;
}

export interface RecoverOptions {
  /** Workflows that were started since then may be of payments that PostgreSQL has lost. */
  readonly startedSince?: Date | undefined;
  readonly onProgress?: (done: number) => void;
}

const AT_ONCE = 16;
const IDS_AT_ONCE = 500;
const ATTEMPTS = 5;
const PAUSE_MS = 500;
/** Before the newest payment that PostgreSQL has: the clocks of two machines, and creations that took long. */
const MARGIN_MS = 3_600_000;

/**
 * Makes PostgreSQL and Temporal agree again after either was lost or restored to an earlier time. PostgreSQL is the record: a
 * workflow that is missing is rebuilt from it, one that differs is signalled, asks the provider and takes over what PostgreSQL
 * has. Rows that PostgreSQL has lost are written again from the workflows' histories. It is safe beside running workflows, and
 * a second run changes nothing. A worker has to run.
 * @throws when PostgreSQL or Temporal does not answer at all; run it again then
 */
export async function recover(
  context: TransitionContext,
  engine: PaymentsEngine,
  { startedSince, onProgress = () => undefined }: RecoverOptions = {},
): Promise<Recovery> {
  const { db } = context;
  const failures: RecoveryFailure[] = [];
  let done = 0;
  const each = async <T>(
    items: AsyncIterable<T>,
    idOf: (item: T) => string,
    work: (item: T) => Promise<RecoveredAs>,
  ) => {
    const counts = { running: 0, rebuilt: 0, notified: 0 };
    await sideBySide(items, AT_ONCE, async (item) => {
      const outcome = await attempt(() => work(item));
      if ('failure' in outcome) failures.push({ id: idOf(item), reason: outcome.failure });
      else counts[outcome.result] += 1;
      onProgress((done += 1));
    });
    return counts;
  };
  const since = startedSince ?? new Date(((await findNewestCreation(db))?.getTime() ?? 0) - MARGIN_MS);

  return {
    rows: await each(
      listDifferingWorkflows(context, engine, since),
      ({ paymentId }) => paymentId,
      (workflow) => recoverRow(context, engine, workflow),
    ),
    payments: await each(
      listUnfinishedPayments(db),
      ({ terms }) => terms.paymentId,
      (payment) => recoverPayment(context, engine, payment),
    ),
    latePayments: await each(
      listUnfinishedLatePayments(db),
      ({ paymentId }) => paymentId,
      (terms) => engine.resumeLatePayment(terms),
    ),
    deliveries: add(
      await each(listHandedOverDeliveries(db), String, (id) => recoverDelivery(context, engine, id)),
      await each(listUnknownDeliveries(context, engine), String, async (id) => {
        await engine.endRetries(id, 'PostgreSQL has no such delivery: lunas recover');
        return 'notified';
      }),
    ),
    failures,
  };
}

type Attempted<T> = { readonly result: T } | { readonly failure: string };

/** One item that fails does not hold up the others. */
async function attempt<T>(work: () => Promise<T>, attemptsLeft = ATTEMPTS): Promise<Attempted<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    if (attemptsLeft === 1) return { failure: error instanceof Error ? error.message : String(error) };
    await sleep(PAUSE_MS);
    return attempt(work, attemptsLeft - 1);
  }
}

interface DifferingWorkflow extends ListedWorkflow {
  readonly hasRow: boolean;
}

/** Workflows whose payment PostgreSQL has not, or has as final while they run. */
async function* listDifferingWorkflows(
  { db }: TransitionContext,
  engine: PaymentsEngine,
  since: Date,
): AsyncGenerator<DifferingWorkflow> {
  const until = new Date();
  let after: string | null = null;
  do {
    const page: WorkflowPage = await engine.listPaymentWorkflows(since, until, after);
    // Whatever was started by hand under another id is nobody's payment.
    const workflows = page.items.filter(({ paymentId }) => isUuid(paymentId));
    const ids = workflows.map(({ paymentId }) => paymentId);
    const statuses = new Map((await findRecordedStatuses(db, ids)).map(({ paymentId, status }) => [paymentId, status]));
    for (const workflow of workflows) {
      const status = statuses.get(workflow.paymentId);
      if (status === undefined) yield { ...workflow, hasRow: false };
      else if (workflow.isRunning && isFinal(status)) yield { ...workflow, hasRow: true };
    }
    after = page.next;
  } while (after !== null);
}

async function recoverRow(
  context: TransitionContext,
  engine: PaymentsEngine,
  { paymentId, hasRow }: DifferingWorkflow,
): Promise<RecoveredAs> {
  if (!hasRow) {
    await rebuildPayment(context, await engine.readCreation(paymentId));
    return 'rebuilt';
  }
  return (await engine.reportPaid(paymentId)) === 'signalled' ? 'notified' : 'running';
}

async function recoverPayment(
  context: TransitionContext,
  engine: PaymentsEngine,
  { terms, ...listed }: UnfinishedPayment,
): Promise<RecoveredAs> {
  const { paymentId } = terms;
  const workflow = await engine.describePayment(paymentId);
  if (workflow !== null && listed.state.status === 'created' && workflow.status !== 'created') {
    // PostgreSQL has lost the response to the creation. Issued once more, the QR would come with another timestamp.
    await rebuildPayment(context, await engine.readCreation(paymentId));
  }
  if (workflow?.isRunning) {
    if (workflow.status === listed.state.status) return 'running';
    // A workflow at its end takes no message any more. It is started again at the next attempt.
    const isEnding = isFinalStatus(workflow.status) || (await engine.reportPaid(paymentId)) === 'no_workflow';
    if (isEnding) throw new Error('its workflow is about to complete');
    return 'notified';
  }
  const opening = await findOpening(context.db, paymentId);
  const resumption = { ...listed, ...(opening && { opening }) };
  if (workflow === null) return engine.resumePayment(terms, resumption);
  // It may have come to its end since it was listed.
  const state = await readState(context.db, paymentId);
  if (isFinal(state.status)) return 'running';
  await engine.restartPayment(terms, { ...resumption, state });
  return 'rebuilt';
}

function isFinalStatus(text: string | null): boolean {
  const status = PAYMENT_STATUSES.find((status) => status === text);
  return status !== undefined && isFinal(status);
}

async function recoverDelivery(
  { db }: TransitionContext,
  engine: PaymentsEngine,
  deliveryId: string,
): Promise<RecoveredAs> {
  if (await engine.hasRetries(deliveryId)) return 'running';
  await takeDeliveryBack(db, deliveryId);
  return 'rebuilt';
}

/** Deliveries that a workflow retries, and that PostgreSQL has lost. Their events are going to be written again. */
async function* listUnknownDeliveries({ db }: TransitionContext, engine: PaymentsEngine): AsyncGenerator<string> {
  for await (const page of pagesOf(engine.listRetriedDeliveryIds())) {
    const known = await findKnownDeliveries(db, page);
    for (const id of page) if (!known.has(id)) yield id;
  }
}

async function* pagesOf<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < IDS_AT_ONCE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function add(one: RecoveryCounts, other: RecoveryCounts): RecoveryCounts {
  return {
    running: one.running + other.running,
    rebuilt: one.rebuilt + other.rebuilt,
    notified: one.notified + other.notified,
  };
}
