import {
  lateRefundKeyOf,
  LATE_PAYMENT_POSTINGS,
  OPEN_LATE_PAYMENT_STATUSES,
  type LatePaymentStatus,
  type LatePaymentStep,
} from '../../domain/late-payment';
import type { PaymentTerms } from '../../domain/payment';
import { UNPAID_FINAL_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { bindStatement, literalList, prepareStatement } from '../connection/statement';
import { postingSql } from './transition-sql';

/** The status of a payment's late payment; undefined if there is none. */
export async function readLatePayment(db: Queryable, paymentId: string): Promise<LatePaymentStatus | undefined> {
  const { rows } = await db.query<{ status: LatePaymentStatus }>({
    name: 'read_late_payment',
    text: 'select status from late_payments where payment_id = $1',
    values: [paymentId],
  });
  return rows[0]?.status;
}

/** What the provider reports about the money. */
export interface LatePaymentReceipt {
  readonly totalRupiah: number;
  readonly providerTransactionId: string;
  readonly paidAt: Date;
}

const RECORD = prepareStatement(
  'record_late_payment',
  ['paymentId', 'totalRupiah', 'providerTransactionId', 'paidAt', 'at', 'refundKey'],
  `
with changed as (
  insert into late_payments
    (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, status, received_at, refund_key)
  select id, merchant_id, :totalRupiah, :providerTransactionId, :paidAt, 'received', :at, :refundKey from payments
  where id = :paymentId and status in (${literalList(UNPAID_FINAL_STATUSES)})
  on conflict (payment_id) do nothing
  returning *
),${latePostingSql('receive', 'received_at')}
recorded as (
  select provider_transaction_id from changed
  union all
  select provider_transaction_id from late_payments where payment_id = :paymentId
)
select provider_transaction_id as "recordedTransactionId" from recorded`,
);

/**
 * Records money for a payment that is final and unpaid, once, and posts it to suspense.
 * @returns the provider's transaction that is recorded as the late payment, now or before
 */
export async function recordLatePayment(
  db: Queryable,
  { paymentId, referenceId }: PaymentTerms,
  receipt: LatePaymentReceipt,
  at: Date,
): Promise<string | undefined> {
  const values = { ...receipt, paymentId, at, refundKey: lateRefundKeyOf(referenceId) };
  const { rows } = await db.query<{ recordedTransactionId: string }>(bindStatement(RECORD, values));
  return rows[0]?.recordedTransactionId;
}

const SUBMIT = prepareStatement(
  'submit_late_refund',
  ['paymentId', 'at'],
  `
update late_payments set status = 'submitted', submitted_at = :at
where payment_id = :paymentId and status = 'received'`,
);

/** Written before the first request to the provider: from here on the provider may have the refund. */
export async function submitLateRefund(db: Queryable, paymentId: string, at: Date): Promise<void> {
  await db.query(bindStatement(SUBMIT, { paymentId, at }));
}

const REFUND = prepareStatement(
  'refund_late_payment',
  ['paymentId', 'at', 'providerReference'],
  `
with changed as (
  update late_payments set status = 'refunded', finished_at = :at, provider_reference = :providerReference,
    is_manual = false
  where payment_id = :paymentId and status <> 'refunded'
  returning *
),${latePostingSql('refund', 'finished_at')}
${notifyAgainSql("closed_at = case when reported_status = 'refunded' then now() end")}
select 1 from changed`,
);

const REFUND_MANUALLY = prepareStatement(
  'refund_late_payment_manually',
  ['exceptionId', 'at', 'operator', 'note'],
  `
with closed as (
  update exceptions set resolved_at = now(), resolved_by = :operator, note = :note
  where id = :exceptionId and kind = 'late_payment' and payment_id is not null and resolved_at is null
  returning payment_id
),
changed as (
  update late_payments set status = 'refunded', finished_at = :at, provider_reference = null, is_manual = true
  from closed where late_payments.payment_id = closed.payment_id and status <> 'refunded'
  returning late_payments.*
),${latePostingSql('refund_manually', 'finished_at')}
${notifyAgainSql()}
select 1 from closed`,
);

/**
 * While the workflow waited for the bank, notifications were handled at long intervals. Now all open ones are due.
 * @param closing assignment that closes those which the change reflects
 */
function notifyAgainSql(closing?: string): string {
  const assignments = ['next_notify_at = least(next_notify_at, now())', ...(closing ? [closing] : [])];
  return `
notifications as (
  update provider_notifications notification set ${assignments.join(',\n    ')}
  from changed join payments on payments.id = changed.payment_id
  where notification.provider_account_id = payments.provider_account_id
    and notification.reference_id = payments.reference_id and notification.closed_at is null
)`;
}

/** The provider confirmed the refund. The late payment may be in manual review. */
export async function refundLatePayment(
  db: Queryable,
  paymentId: string,
  at: Date,
  providerReference: string | null,
): Promise<void> {
  await db.query(bindStatement(REFUND, { paymentId, at, providerReference }));
}

/** An operator's resolution of the exception of a late payment. */
export interface ManualRefund {
  readonly exceptionId: string;
  readonly at: Date;
  readonly operator: string;
  readonly note: string;
}

/**
 * An operator refunded the customer outside the provider: posts the late payment out of suspense and closes its
 * exception, in one statement.
 * @returns whether the exception was open and of a late payment
 */
export async function refundLatePaymentManually(db: Queryable, refund: ManualRefund): Promise<boolean> {
  const { rowCount } = await db.query(bindStatement(REFUND_MANUALLY, { ...refund }));
  return rowCount === 1;
}

const REQUIRE_MANUAL_REVIEW = prepareStatement(
  'require_manual_review',
  ['paymentId', 'at', 'reason'],
  `
with changed as (
  update late_payments set status = 'manual_review', finished_at = :at, failure_reason = :reason
  where payment_id = :paymentId and status in (${literalList(OPEN_LATE_PAYMENT_STATUSES)})
  returning *
),${notifyAgainSql()}
insert into exceptions (kind, reference_id, provider_account_id, payment_id, amount_rupiah, detail)
select 'late_payment', payments.reference_id, payments.provider_account_id, payments.id, changed.total_rupiah,
  'Money came after the payment was ' || payments.status || ', and is not given back: ' || :reason
from changed join payments on payments.id = changed.payment_id
on conflict (kind, reference_id) where resolved_at is null do nothing`,
);

/** No rule refunds it: the money stays in suspense, and an exception is opened for an operator. */
export async function requireManualReview(db: Queryable, paymentId: string, at: Date, reason: string): Promise<void> {
  await db.query(bindStatement(REQUIRE_MANUAL_REVIEW, { paymentId, at, reason }));
}

function latePostingSql(step: LatePaymentStep, timestamp: string): string {
  return postingSql(LATE_PAYMENT_POSTINGS[step], {
    columns: 'payment_id, late_payment_step, merchant_id, occurred_at',
    values: `payment_id, '${step}', merchant_id, ${timestamp}`,
  });
}

/** For `statements.sql`. */
export const LATE_PAYMENT_STATEMENTS = [RECORD, SUBMIT, REFUND, REFUND_MANUALLY, REQUIRE_MANUAL_REVIEW] as const;
