import type { LatePaymentStatus } from '../../domain/late-payment';
import type { LedgerLine } from '../../domain/ledger';
import type { TransitionName } from '../../domain/payment-transitions';
import type { RefundStatus } from '../../domain/refund';
import type { Queryable } from '../connection/pool';
import { SUBJECT_TABLES } from '../transitions/subjects';
import { deliveriesSql, EPOCH_MS, type TimelineDelivery } from '../webhooks/timeline-deliveries';

/** What happened to one payment, each part oldest first. Times are milliseconds since 1970. */
export interface PaymentTimeline {
  readonly transitions: readonly TimelineTransition[];
  readonly ledger: readonly TimelineEntryLine[];
  readonly refunds: readonly TimelineRefund[];
  readonly latePayment: TimelineLatePayment | null;
  readonly deliveries: readonly TimelineDelivery[];
}

export interface TimelineTransition {
  readonly version: number;
  readonly name: TransitionName;
  readonly atMs: number;
  readonly actor: string;
  /** The name of the member who did it; null for any other actor. */
  readonly memberName: string | null;
}

/** A line of the ledger on one of the merchant's own accounts. */
export interface TimelineEntryLine extends Pick<LedgerLine, 'side'> {
  readonly version: number;
  readonly account: 'merchant_pending' | 'merchant_available';
  readonly amountRupiah: number;
}

export interface TimelineRefund {
  readonly number: number;
  readonly status: RefundStatus;
  readonly submitAtMs: number;
  readonly failureReason: string | null;
}

export interface TimelineLatePayment {
  readonly status: LatePaymentStatus;
  readonly totalRupiah: number;
  readonly receivedAtMs: number;
}

/** $1: the merchant, $2: the payment. Each part names both, so no part is of another merchant. */
const PAYMENT = 'payments.id = $2 and payments.merchant_id = $1';

const PARTS = {
  transitions: `
    select json_build_object('version', transition.version, 'name', transition.name,
      'atMs', ${EPOCH_MS('transition.occurred_at')}, 'actor', transition.actor, 'memberName', person.name) as part
    from payments join payment_transitions transition on transition.payment_id = payments.id
    left join members member on transition.actor = 'user:' || member.user_id and member.merchant_id = $1
    left join users person on person.id = member.user_id
    where ${PAYMENT} order by transition.version`,
  ledger: `
    select json_build_object('version', posting.payment_version, 'side', entry.side, 'account', entry.account,
      'amountRupiah', entry.amount_rupiah) as part
    from ledger_postings posting join ledger_entries entry on entry.posting_id = posting.id
    where posting.payment_id = $2 and posting.merchant_id = $1 and posting.payment_version is not null
      and entry.account in ('merchant_pending', 'merchant_available')
    order by posting.payment_version, entry.line`,
  refunds: `
    select json_build_object('number', refund.number, 'status', refund.status,
      'submitAtMs', ${EPOCH_MS('refund.submit_at')}, 'failureReason', refund.failure_reason) as part
    from payments join refunds refund on refund.payment_id = payments.id where ${PAYMENT} order by refund.number`,
  deliveries: deliveriesSql(SUBJECT_TABLES.payment),
} as const;

const all = (part: keyof typeof PARTS) => `(select coalesce(json_agg(part), '[]') from (${PARTS[part]}) parts)`;

const TIMELINE = `
  select ${all('transitions')} as transitions, ${all('ledger')} as ledger, ${all('refunds')} as refunds,
    ${all('deliveries')} as deliveries,
    (select json_build_object('status', status, 'totalRupiah', total_rupiah,
        'receivedAtMs', ${EPOCH_MS('received_at')})
      from late_payments where payment_id = $2 and merchant_id = $1) as "latePayment"`;

/** The parts of a payment's timeline, in one round trip. */
export async function findPaymentTimeline(
  db: Queryable,
  merchantId: string,
  paymentId: string,
): Promise<PaymentTimeline> {
  const { rows } = await db.query<PaymentTimeline>({
    name: 'find_payment_timeline',
    text: TIMELINE,
    values: [merchantId, paymentId],
  });
  const [timeline] = rows;
  if (!timeline) throw new Error('PostgreSQL returned no timeline');
  return timeline;
}
