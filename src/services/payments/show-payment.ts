import type { Queryable } from '../../db/connection/pool';
import { findLinkOfPayment, type LinkOfPayment } from '../../db/links/find-link';
import type { PaymentRow } from '../../db/payments/payment-row';
import { SUBJECT_TABLES } from '../../db/transitions/subjects';
import type { ActorText } from '../../domain/actor';
import type { LatePaymentStatus, LatePaymentStep } from '../../domain/late-payment';
import type { LedgerLine } from '../../domain/ledger';
import type { PaymentStatus, TransitionName } from '../../domain/payment-transitions';
import type { RefundStatus } from '../../domain/refund';
import type { Subject } from '../../domain/subject';
import { messageOf } from '../../errors';
import { MissingWorkerError } from '../../temporal/missing-worker';
import type { WorkflowRun } from '../../temporal/payment-workflow-client';
import { listActions, type AuditedAction } from '../audit/list-actions';
import { listDeliveriesOf, type PaymentDelivery } from '../webhooks/webhook-deliveries';
import { listExceptionsOf, type ExceptionRecord } from './exceptions';
import { findPaymentOfAnyId } from './find-payment';

/** The record of a payment in PostgreSQL, and its workflow. */
export interface PaymentDetails {
  readonly payment: PaymentRow;
  readonly transitions: readonly PaymentTransition[];
  readonly ledger: readonly LedgerEntry[];
  readonly refunds: readonly Refund[];
  /** Null if no money came after the payment became final. */
  readonly latePayment: LatePayment | null;
  /** The payment link by which a customer made it; null: by none. */
  readonly paymentLink: LinkOfPayment | null;
  readonly exceptions: readonly ExceptionRecord[];
  /** The newest operator actions, rejected ones included. */
  readonly actions: readonly AuditedAction[];
  readonly deliveries: readonly PaymentDelivery[];
  /** What it reports, or how it closed; null if Temporal has no such workflow, `error` if it cannot be read. */
  readonly workflow: WorkflowRun | WorkflowError | null;
}

export interface PaymentTransition {
  readonly version: number;
  readonly name: TransitionName;
  readonly fromStatus: PaymentStatus | null;
  readonly toStatus: PaymentStatus;
  readonly occurredAt: Date;
  readonly actor: ActorText;
  readonly note: string | null;
  /** The id of the request that caused the transition, else of the one that created the payment. */
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

export interface LedgerEntry extends Pick<LedgerLine, 'side' | 'account'> {
  /** The version after the transition that posted the entry; null for a late payment. */
  readonly version: number | null;
  readonly latePaymentStep: LatePaymentStep | null;
  readonly occurredAt: Date;
  readonly amountRupiah: number;
}

interface RefundOutcome {
  readonly submittedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly providerReference: string | null;
  readonly failureReason: string | null;
}

export interface Refund extends RefundOutcome {
  readonly number: number;
  readonly refundKey: string;
  readonly amountRupiah: number;
  readonly status: RefundStatus;
  readonly requestedAt: Date;
  /** Until then the refund is held, and can be cancelled. */
  readonly submitAt: Date;
}

export interface LatePayment extends RefundOutcome {
  readonly status: LatePaymentStatus;
  readonly totalRupiah: number;
  readonly providerTransactionId: string;
  readonly paidAt: Date;
  readonly receivedAt: Date;
  readonly refundKey: string;
}

const MAX_ACTIONS = 20;

/**
 * @param anyId as `findPaymentOfAnyId` takes it
 * @param readRun reads the last run of the payment's workflow
 * @throws NotFoundError if there is no such payment, ConflictError if there are several
 */
export async function showPayment(
  db: Queryable,
  readRun: (paymentId: string) => Promise<WorkflowRun | null>,
  anyId: string,
): Promise<PaymentDetails> {
  const payment = await findPaymentOfAnyId(db, anyId);
  const { id, referenceId } = payment;
  const [transitions, ledger, refunds, latePayment, link, exceptions, actions, deliveries, workflow] =
    await Promise.all([
      listTransitions(db, id),
      listLedgerEntries(db, { kind: 'payment', id }),
      listRefunds(db, id),
      findLatePayment(db, id),
      findLinkOfPayment(db, id),
      listExceptionsOf(db, referenceId),
      listActions(db, { target: id, limit: MAX_ACTIONS }),
      listDeliveriesOf(db, { kind: 'payment', id }),
      readRun(id).catch(toWorkflowError),
    ]);
  return {
    payment,
    transitions,
    ledger,
    refunds,
    latePayment,
    paymentLink: link,
    exceptions,
    actions,
    deliveries,
    workflow,
  };
}

/** Why what only a workflow knows was not read. */
export interface WorkflowError {
  readonly error: string;
  /** Temporal responds, and no worker does. */
  readonly isWorkerMissing: boolean;
}

/** The record is shown although Temporal, or its worker, is unavailable. */
export function toWorkflowError(error: unknown): WorkflowError {
  return { error: messageOf(error), isWorkerMissing: error instanceof MissingWorkerError };
}

async function listTransitions(db: Queryable, paymentId: string): Promise<PaymentTransition[]> {
  const { rows } = await db.query<PaymentTransition>(
    `select version, name, from_status as "fromStatus", to_status as "toStatus", occurred_at as "occurredAt",
       actor, note, request_id as "requestId", traceparent
     from payment_transitions where payment_id = $1 order by version`,
    [paymentId],
  );
  return rows;
}

/** The ledger entries of one subject, in the order of the ledger. */
export async function listLedgerEntries(db: Queryable, { kind, id }: Subject): Promise<LedgerEntry[]> {
  const { idColumn, versionColumn } = SUBJECT_TABLES[kind];
  const { rows } = await db.query<LedgerEntry>(
    `select posting.${versionColumn} as version, posting.late_payment_step as "latePaymentStep",
       posting.occurred_at as "occurredAt", entry.side, entry.account, entry.amount_rupiah as "amountRupiah"
     from ledger_postings posting join ledger_entries entry on entry.posting_id = posting.id
     where posting.${idColumn} = $1 order by posting.id, entry.line`,
    [id],
  );
  return rows;
}

async function listRefunds(db: Queryable, paymentId: string): Promise<Refund[]> {
  const { rows } = await db.query<Refund>(
    `select number, refund_key as "refundKey", amount_rupiah as "amountRupiah", status, requested_at as "requestedAt",
       submit_at as "submitAt", ${REFUND_OUTCOME_COLUMNS}
     from refunds where payment_id = $1 order by number`,
    [paymentId],
  );
  return rows;
}

async function findLatePayment(db: Queryable, paymentId: string): Promise<LatePayment | null> {
  const { rows } = await db.query<LatePayment>(
    `select status, total_rupiah as "totalRupiah", provider_transaction_id as "providerTransactionId",
       paid_at as "paidAt", received_at as "receivedAt", refund_key as "refundKey", ${REFUND_OUTCOME_COLUMNS}
     from late_payments where payment_id = $1`,
    [paymentId],
  );
  return rows[0] ?? null;
}

const REFUND_OUTCOME_COLUMNS = `submitted_at as "submittedAt", finished_at as "finishedAt",
  provider_reference as "providerReference", failure_reason as "failureReason"`;
