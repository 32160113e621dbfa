import { lateRefundKeyOf, LATE_PAYMENT_POSTINGS, type LatePaymentStatus } from '../../domain/late-payment';
import type { PaymentTerms } from '../../domain/payment';
import type { Queryable } from '../pool';
import { postingSql } from './transition-sql';

/** Where late money stands; undefined where none came. */
export async function readLatePayment(db: Queryable, paymentId: string): Promise<LatePaymentStatus | undefined> {
  const { rows } = await db.query<{ status: LatePaymentStatus }>({
    name: 'late_payment_state',
    text: 'select status from late_payments where payment_id = $1',
    values: [paymentId],
  });
  return rows[0]?.status;
}

/** What the provider says of the money. */
export interface LatePaymentReceipt {
  readonly totalRupiah: number;
  readonly providerTransactionId: string;
  readonly paidAt: Date;
}

const RECEIVE = {
  name: 'late_payment_receive',
  text: `
with changed as (
  insert into late_payments
    (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, status, received_at, refund_key)
  select id, merchant_id, $2, $3, $4, 'received', $5, $6 from payments
  where id = $1 and status in ('expired', 'cancelled', 'failed')
  on conflict (payment_id) do nothing
  returning *
),${postingSql(LATE_PAYMENT_POSTINGS.receive, keyOf('receive', 'received_at'))}
recorded as (
  select provider_transaction_id from changed
  union all
  select provider_transaction_id from late_payments where payment_id = $1
)
select provider_transaction_id as "recordedTransactionId" from recorded`,
} as const;

/**
 * Money came for a payment that has ended unpaid: into suspense with it, once.
 * @returns the provider's transaction that is recorded as the late payment, now or before
 */
export async function recordLatePayment(
  db: Queryable,
  { paymentId, referenceId }: PaymentTerms,
  receipt: LatePaymentReceipt,
  at: Date,
): Promise<string | undefined> {
  const { totalRupiah, providerTransactionId, paidAt } = receipt;
  const values = [paymentId, totalRupiah, providerTransactionId, paidAt, at, lateRefundKeyOf(referenceId)];
  const { rows } = await db.query<{ recordedTransactionId: string }>({ ...RECEIVE, values });
  return rows[0]?.recordedTransactionId;
}

/** The customer is going to have it back: written before the provider is asked for the first time. */
export async function submitLateRefund(db: Queryable, paymentId: string, at: Date): Promise<void> {
  await db.query({
    name: 'late_payment_submit',
    text: `update late_payments set status = 'submitted', submitted_at = $2 where payment_id = $1 and status = 'received'`,
    values: [paymentId, at],
  });
}

function refundStatement(step: 'refund' | 'refund_manually') {
  return {
    name: `late_payment_${step}`,
    text: `
with changed as (
  update late_payments set status = 'refunded', finished_at = $2, provider_reference = $3,
    is_manual = ${step === 'refund_manually'}
  where payment_id = $1 and status <> 'refunded'
  returning *
),${postingSql(LATE_PAYMENT_POSTINGS[step], keyOf(step, 'finished_at'))}
${notifyAgainSql('closed_at = case when reported_status = any ($4) then now() end')}
select 1 from changed`,
  } as const;
}

/** While the bank was awaited, news was told rarely: what is open is due again. `closing` closes what the step reflects. */
function notifyAgainSql(closing?: string): string {
  const assignments = ['next_notify_at = least(next_notify_at, now())', ...(closing ? [closing] : [])];
  return `
notifications as (
  update provider_notifications notification set ${assignments.join(', ')}
  from changed join payments on payments.id = changed.payment_id
  where notification.provider_account_id = payments.provider_account_id
    and notification.reference_id = payments.reference_id and notification.closed_at is null
)`;
}

const REFUND = refundStatement('refund');
const REFUND_MANUALLY = refundStatement('refund_manually');

/** The provider confirmed that the customer has it back; also if it had been kept. */
export async function refundLatePayment(
  db: Queryable,
  paymentId: string,
  at: Date,
  providerReference: string | null,
): Promise<void> {
  await db.query({ ...REFUND, values: [paymentId, at, providerReference, ['refunded']] });
}

/** An operator gave it back by another way than the provider's refund. */
export async function refundLatePaymentManually(db: Queryable, paymentId: string, at: Date): Promise<void> {
  await db.query({ ...REFUND_MANUALLY, values: [paymentId, at, null, []] });
}

/** Nobody gives it back by a rule: it stays in suspense, and is a case for a person. */
export async function requireManualReview(db: Queryable, paymentId: string, at: Date, reason: string): Promise<void> {
  await db.query({
    name: 'late_payment_keep',
    text: `
with changed as (
  update late_payments set status = 'manual_review', finished_at = $2, failure_reason = $3
  where payment_id = $1 and status in ('received', 'submitted')
  returning *
),${notifyAgainSql()}
insert into exceptions (kind, reference_id, provider_account_id, payment_id, amount_rupiah, detail)
select 'late_payment', payments.reference_id, payments.provider_account_id, payments.id, changed.total_rupiah,
  'Money came after the payment was ' || payments.status || ', and is not given back: ' || $3
from changed join payments on payments.id = changed.payment_id
on conflict (kind, reference_id) where resolved_at is null do nothing`,
    values: [paymentId, at, reason],
  });
}

function keyOf(step: keyof typeof LATE_PAYMENT_POSTINGS, timestamp: string) {
  return {
    columns: 'payment_id, late_payment_step, merchant_id, occurred_at',
    values: `payment_id, '${step}', merchant_id, ${timestamp}`,
  };
}
