import { validate as isUuid } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import { findArchivedIds } from '../../db/operations/archive';
import { closeRecovered } from '../../db/operations/close-recovered';
import { findRecordedStatuses } from '../../db/operations/list-for-reconciliation';
import {
  findRecoveryCursor,
  removeRecoveryCursor,
  saveRecoveryCursor,
  type RecoveryCursor,
} from '../../db/operations/recovery-cursor';
import { findNewestCreation } from '../../db/payments/find-newest-creation';
import {
  countOpenPayments,
  listDeliveriesInRetryWorkflow,
  listOpenPayments,
  listUnfinishedLatePayments,
  type Key,
  type OpenPayment,
} from '../../db/payments/list-open-payments';
import { listOpenPayouts } from '../../db/payouts/list-open-payouts';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { isFinal } from '../../domain/payment-transitions';
import { forEachConcurrent } from '../../lib/for-each-concurrent';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { WorkflowPage } from '../../temporal/workflow-records';
import { findKnownDeliveries } from '../../webhooks/outbox';
import {
  attempt,
  recoverDelivery,
  recoverPayment,
  recoverRow,
  type DifferingWorkflow,
  type RecoveryResult,
} from './recover-item';
import { listDifferingPayouts, recoverPayout, recoverPayoutRow } from './recover-payouts';

export type RecoveryCounts = Readonly<Record<RecoveryResult, number>>;

export interface Recovery {
  /** Rows that PostgreSQL had lost, and workflows that ran although their payment is final. */
  readonly rows: RecoveryCounts;
  readonly payments: RecoveryCounts;
  readonly latePayments: RecoveryCounts;
  /** The rows of payouts. */
  readonly payoutRows: RecoveryCounts;
  readonly payouts: RecoveryCounts;
  readonly deliveries: RecoveryCounts;
  readonly failures: readonly RecoveryFailure[];
  /** The ids of lost payouts that were not written again. They are among the failures. */
  readonly lostPayouts: readonly string[];
}

export interface RecoveryFailure {
  /** The id of a payment, a payout or a delivery. */
  readonly id: string;
  readonly reason: string;
}

export interface RecoverOptions {
  /** Workflows started since then are compared with PostgreSQL, which may have lost their payments. */
  readonly startedSince?: Date | undefined;
  /** Begins with the first open payment, also if a recovery was stopped before its end. */
  readonly fromStart?: boolean;
  readonly onProgress?: (progress: RecoveryReport) => void;
}

/** How many items are done, those of a recovery that was stopped included. */
export interface RecoveryReport {
  readonly done: number;
  readonly doneBefore: number;
  /** The open payments, which are nearly all items. */
  readonly openPayments: number;
}

const CONCURRENCY = 16;
const BATCH_SIZE = 500;
/** Tolerance for clock differences between machines, and for creations that took long. */
const CLOCK_MARGIN_MS = 3_600_000;

/**
 * Makes PostgreSQL and Temporal consistent after either was lost or restored to an earlier time. PostgreSQL is the
 * record. A missing workflow is started again from it. A workflow with another status is signalled: it queries the
 * provider and takes over the state in PostgreSQL. Rows that PostgreSQL has lost are restored from the histories of
 * workflows. Running workflows are not disturbed, and a second run changes nothing. A worker must run.
 * @throws if PostgreSQL or Temporal is unavailable; run it again later
 */
export async function recover(
  context: TransitionContext,
  workflows: PaymentWorkflowClient,
  { startedSince, fromStart = false, onProgress = () => undefined }: RecoverOptions = {},
): Promise<Recovery> {
  const { db } = context;
  const cursor = fromStart ? undefined : await findRecoveryCursor(db);
  const run = new RecoveryRun(db, { openPayments: await countOpenPayments(db), cursor, onProgress });
  const lostPayouts: string[] = [];
  const since = startedSince ?? new Date(((await findNewestCreation(db))?.getTime() ?? 0) - CLOCK_MARGIN_MS);
  const startedAt = new Date();

  const recovery = {
    rows: await run.recoverEach(
      listDifferingWorkflows(context, workflows, since),
      ({ paymentId }) => paymentId,
      (workflow) => recoverRow(context, workflows, workflow),
    ),
    payments: await run.recoverEach(
      run.listPayments(),
      ({ terms }) => terms.paymentId,
      (payment) => recoverPayment(db, workflows, payment),
    ),
    latePayments: await run.recoverEach(
      listUnfinishedLatePayments(db),
      ({ paymentId }) => paymentId,
      (terms) => workflows.resumeLatePayment(terms),
    ),
    payoutRows: await run.recoverEach(
      listDifferingPayouts(db, workflows.payouts, since),
      ({ payoutId }) => payoutId,
      (payout) => recoverPayoutRow(db, workflows.payouts, payout),
      ({ payoutId, recorded }) => {
        if (!recorded) lostPayouts.push(payoutId);
      },
    ),
    payouts: await run.recoverEach(
      listOpenPayouts(db),
      ({ payoutId }) => payoutId,
      (payout) => recoverPayout(workflows.payouts, payout),
    ),
    deliveries: add(
      await run.recoverEach(listDeliveriesInRetryWorkflow(db), String, (id) => recoverDelivery(context, workflows, id)),
      await run.recoverEach(listUnknownDeliveries(context, workflows), String, async (id) => {
        await workflows.retries.terminate(id, 'PostgreSQL has no such delivery: recovery');
        return 'notified';
      }),
    ),
    failures: run.failures,
    lostPayouts,
  };
  await removeRecoveryCursor(db);
  await closeRecovered(
    db,
    startedAt,
    run.failures.map(({ id }) => id),
  );
  return recovery;
}

interface RunOptions extends Pick<RecoveryReport, 'openPayments'> {
  readonly cursor: RecoveryCursor | undefined;
  readonly onProgress: (progress: RecoveryReport) => void;
}

/** The failures of a recovery, and how far it is. */
class RecoveryRun {
  readonly failures: RecoveryFailure[] = [];
  /** What is not done yet, in the order in which it began. */
  readonly #inHand = new Set<number>();
  #begun = 0;
  #done = 0;

  constructor(
    private readonly db: Queryable,
    private readonly options: RunOptions,
  ) {}

  /** The open payments; after each page the recovery notes from where another one goes on. */
  listPayments(): AsyncGenerator<OpenPayment> {
    const { cursor } = this.options;
    const doneBefore = cursor?.doneCount ?? 0;
    const begunBefore = this.#begun;
    const pages: { readonly last: Key; readonly begun: number }[] = [];
    return listOpenPayments(this.db, cursor && [cursor.accountId, cursor.paymentId], async (last) => {
      pages.push({ last, begun: this.#begun });
      const [oldest = this.#begun] = this.#inHand;
      const whole = pages.findLast(({ begun }) => begun <= oldest);
      // A payment that was not recovered is one of the next recovery.
      if (whole === undefined || this.failures.length > 0) return;
      const [accountId, paymentId] = whole.last;
      await saveRecoveryCursor(this.db, { accountId, paymentId, doneCount: doneBefore + whole.begun - begunBefore });
    });
  }

  async recoverEach<T>(
    items: AsyncIterable<T>,
    idOf: (item: T) => string,
    work: (item: T) => Promise<RecoveryResult>,
    onFailure: (item: T) => void = () => undefined,
  ): Promise<RecoveryCounts> {
    const counts = { running: 0, rebuilt: 0, notified: 0 };
    await forEachConcurrent(items, CONCURRENCY, async (item) => {
      const number = this.#begun;
      this.#begun += 1;
      this.#inHand.add(number);
      const outcome = await attempt(() => work(item));
      this.#inHand.delete(number);
      if ('failure' in outcome) {
        this.failures.push({ id: idOf(item), reason: outcome.failure });
        onFailure(item);
      } else counts[outcome.result] += 1;
      this.#report();
    });
    return counts;
  }

  #report(): void {
    const { cursor, openPayments, onProgress } = this.options;
    this.#done += 1;
    const doneBefore = cursor?.doneCount ?? 0;
    onProgress({ done: doneBefore + this.#done, doneBefore, openPayments });
  }
}

/** Workflows whose payment is missing in PostgreSQL, and running workflows whose payment is final there. */
async function* listDifferingWorkflows(
  { db }: TransitionContext,
  workflows: PaymentWorkflowClient,
  since: Date,
): AsyncGenerator<DifferingWorkflow> {
  const until = new Date();
  let after: string | null = null;
  do {
    const page: WorkflowPage = await workflows.records.list(since, until, after);
    // A workflow that was started manually under another id has no payment.
    const listedWorkflows = page.items.filter(({ paymentId }) => isUuid(paymentId));
    const ids = listedWorkflows.map(({ paymentId }) => paymentId);
    const statuses = new Map((await findRecordedStatuses(db, ids)).map(({ paymentId, status }) => [paymentId, status]));
    const archivedIds = await findArchivedIds(db, ids);
    for (const workflow of listedWorkflows) {
      const status = statuses.get(workflow.paymentId);
      if (archivedIds.has(workflow.paymentId) && !workflow.isRunning) continue;
      if (status === undefined) yield { ...workflow, hasRow: false };
      else if (workflow.isRunning && isFinal(status)) yield { ...workflow, hasRow: true };
    }
    after = page.next;
  } while (after !== null);
}

/**
 * Deliveries with a retry workflow that PostgreSQL has lost. Their payments' transitions will write the events again.
 */
async function* listUnknownDeliveries(
  { db }: TransitionContext,
  workflows: PaymentWorkflowClient,
): AsyncGenerator<string> {
  for await (const page of toPages(workflows.retries.listDeliveryIds())) {
    const known = await findKnownDeliveries(db, page);
    for (const id of page) if (!known.has(id)) yield id;
  }
}

async function* toPages<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < BATCH_SIZE) continue;
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
