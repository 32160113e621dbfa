import type { ActorText } from '../../domain/actor';
import {
  LATE_PAYMENT_POSTINGS,
  lateRefundKeyOf,
  OPEN_LATE_PAYMENT_STATUSES,
  type LatePaymentStatus,
  type LatePaymentStep,
} from '../../domain/late-payment';
import type { PaymentTerms } from '../../domain/payment';
import { UNPAID_FINAL_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { bindStatement, literalList, prepareStatement } from '../connection/statement';
import type { ProviderOrder } from '../payments/notification-inbox';
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
),
closed as (
  select close_exceptions('late_payment', payments.provider_account_id, array[payments.reference_id])
  from changed join payments on payments.id = changed.payment_id
),${latePostingSql('refund', 'finished_at')}
${notifyAgainSql("closed_at = case when reported_status = 'refunded' then now() end")}
select count(*) from closed`,
);

const REFUND_MANUALLY = prepareStatement(
  'refund_late_payment_manually',
  ['exceptionId', 'at', 'operator', 'note'],
  `
with changed as (
  update late_payments set status = 'refunded', finished_at = :at, provider_reference = null, is_manual = true
  from exceptions
  where exceptions.id = :exceptionId and kind = 'late_payment' and resolved_at is null
    and late_payments.payment_id = exceptions.payment_id and late_payments.status <> 'refunded'
  returning late_payments.*
),
closed as (
  update exceptions set resolved_at = now(), resolved_by = :operator, note = :note
  from changed where exceptions.id = :exceptionId
),${latePostingSql('refund_manually', 'finished_at')}
${notifyAgainSql()}
select 1 from changed`,
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

const RECORD_ARCHIVED = prepareStatement(
  'record_archived_late_payment',
  ['referenceId', 'providerAccountId', 'totalRupiah', 'providerTransactionId', 'paidAt', 'at'],
  `
with changed as (
  insert into archived_late_payments
    (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, received_at)
  select payment_id, merchant_id, :totalRupiah, :providerTransactionId, :paidAt, :at from archived_payments
  where reference_id = :referenceId and not received_money
  on conflict (payment_id) do nothing
  returning *
),${latePostingSql('receive', 'received_at')}
exception as (
  insert into exceptions (kind, reference_id, provider_account_id, amount_rupiah, detail)
  select 'late_payment', :referenceId, :providerAccountId, total_rupiah,
    'Money came after the unpaid payment was archived, and is not given back.'
  from changed on conflict do nothing
)
select 1 from archived_late_payments
join archived_payments using (payment_id) where reference_id = :referenceId
union all
select 1 from changed`,
);

/**
 * Records money for an archived payment that was never paid, once: posts it to suspense and opens an exception.
 * @returns whether it is recorded, now or before; false if the payment is not archived, or received its money
 */
export async function recordArchivedLatePayment(
  db: Queryable,
  order: ProviderOrder,
  receipt: LatePaymentReceipt,
  at: Date,
): Promise<boolean> {
  const { rows } = await db.query(bindStatement(RECORD_ARCHIVED, { ...order, ...receipt, at }));
  return rows.length > 0;
}

const REFUND_ARCHIVED_MANUALLY = prepareStatement(
  'refund_archived_late_payment_manually',
  ['exceptionId', 'at', 'operator', 'note'],
  `
with changed as (
  update archived_late_payments late set refunded_at = :at
  from exceptions join archived_payments archived on archived.reference_id = exceptions.reference_id
  where exceptions.id = :exceptionId and kind = 'late_payment' and resolved_at is null
    and late.payment_id = archived.payment_id and refunded_at is null
  returning late.*
),
closed as (
  update exceptions set resolved_at = now(), resolved_by = :operator, note = :note
  from changed where exceptions.id = :exceptionId
),${latePostingSql('refund_manually', 'refunded_at').replace(/,$/, '')}
select 1 from changed`,
);

/** An operator's resolution of the exception of a late payment. */
export interface ManualRefund {
  readonly exceptionId: string;
  readonly at: Date;
  readonly operator: ActorText;
  readonly note: string;
}

/**
 * An operator refunded the customer outside the provider: posts the late payment out of suspense and closes its
 * exception, in one statement. The payment may be archived.
 * @returns whether the exception was open, and of a late payment that was not refunded yet
 */
export async function refundLatePaymentManually(db: Queryable, refund: ManualRefund): Promise<boolean> {
  for (const statement of [REFUND_MANUALLY, REFUND_ARCHIVED_MANUALLY]) {
    const { rowCount } = await db.query(bindStatement(statement, { ...refund }));
    if (rowCount === 1) return true;
  }
  return false;
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
on conflict do nothing`,
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

/** The statements of late payments, which a test compares with `test/db/transitions/statements.sql`. */
export const LATE_PAYMENT_STATEMENTS = [
  RECORD,
  SUBMIT,
  REFUND,
  REFUND_MANUALLY,
  REQUIRE_MANUAL_REVIEW,
  RECORD_ARCHIVED,
  REFUND_ARCHIVED_MANUALLY,
] as const;
