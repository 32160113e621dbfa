import type { LatePaymentStatus } from '../../domain/late-payment';
import type { TransitionName } from '../../domain/payment-transitions';
import type { RefundStatus } from '../../domain/refund';
import type { Queryable } from '../connection/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** What belongs to a payment and is in other tables. Times in JSON are milliseconds since 1970. */
export interface PaymentParts {
  /** Null: the request had none, or they were erased. */
  readonly sealedDetails: string | null;
  /** The newest one. */
  readonly refund: RefundPart | null;
  readonly latePayment: LatePaymentPart | null;
  readonly settledAt: Date | null;
  /** The payment link by which it was made; null: by none. */
  readonly link: LinkPart | null;
  /** All refunds, in the order of their numbers. */
  readonly refunds: readonly RefundPart[];
  /** The transitions of the payment, in their order. */
  readonly history: readonly { readonly name: TransitionName; readonly atMs: number }[];
}

/** What the address of a link is made of. */
export interface LinkPart {
  readonly id: string;
  readonly referenceId: string;
  readonly fingerprint: string;
}

export interface RefundPart {
  readonly number: number;
  readonly status: RefundStatus;
  readonly submitAtMs: number;
  readonly submittedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly failureReason: string | null;
}

export interface LatePaymentPart {
  readonly status: LatePaymentStatus;
  readonly totalRupiah: number;
  readonly receivedAtMs: number;
  readonly finishedAtMs: number | null;
}

export type PaymentPart = keyof PaymentParts;
export type PaymentWithParts = PaymentRow & Partial<PaymentParts>;

const epochMs = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

const REFUND = `json_build_object('number', number, 'status', refund.status, 'submitAtMs', ${epochMs('submit_at')},
      'submittedAtMs', ${epochMs('submitted_at')}, 'finishedAtMs', ${epochMs('finished_at')},
      'failureReason', refund.failure_reason)`;

/** A scalar query for each part, over a table named `payments`. */
const PARTS: Readonly<Record<PaymentPart, string>> = {
  sealedDetails: `select sealed from payment_details details
    where details.payment_id = payments.id and details.fingerprint = payments.fingerprint`,
  refund: `select ${REFUND}
    from refunds refund where refund.payment_id = payments.id order by number desc limit 1`,
  latePayment: `select json_build_object('status', late.status, 'totalRupiah', late.total_rupiah,
      'receivedAtMs', ${epochMs('received_at')}, 'finishedAtMs', ${epochMs('finished_at')})
    from late_payments late where late.payment_id = payments.id`,
  settledAt: `select occurred_at from payment_transitions transition
    where transition.payment_id = payments.id and transition.to_status = 'settled'`,
  link: `select json_build_object('id', link.id, 'referenceId', link.reference_id, 'fingerprint', link.fingerprint)
    from payment_link_payments own join payment_links link on link.id = own.link_id
    where own.payment_id = payments.id`,
  refunds: `select coalesce(json_agg(${REFUND} order by number), '[]')
    from refunds refund where refund.payment_id = payments.id`,
  history: `select coalesce(json_agg(json_build_object('name', name, 'atMs', ${epochMs('occurred_at')})
      order by version), '[]')
    from payment_transitions transition where transition.payment_id = payments.id`,
};

/** The select list of a `PaymentRow` with these parts. */
export function columnsWith(parts: readonly PaymentPart[]): string {
  return [PAYMENT_COLUMNS, ...parts.map((part) => `(${PARTS[part]}) as "${part}"`)].join(', ');
}

/** Some payments of a merchant with these parts, in any order. */
export async function findPaymentsWithParts(
  db: Queryable,
  merchantId: string,
  { paymentIds, parts }: { readonly paymentIds: readonly string[]; readonly parts: readonly PaymentPart[] },
): Promise<PaymentWithParts[]> {
  const { rows } = await db.query<PaymentWithParts>(
    `select ${columnsWith(parts)} from payments where id = any ($1) and merchant_id = $2`,
    [paymentIds, merchantId],
  );
  return rows;
}
