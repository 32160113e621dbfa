import type { PublicAddresses } from '../../crypto/public-links';
import type { Sealer } from '../../crypto/sealing';
import type { PaymentWithParts } from '../../db/payments/payment-parts';
import type { PaymentRow } from '../../db/payments/payment-row';
import { EXPANSIONS, type Expansion } from '../../domain/expansions';
import type { FeeSource } from '../../domain/fees';
import type { LatePaymentStatus } from '../../domain/late-payment';
import type { MerchantClass } from '../../domain/merchant-identity';
import type { RefundStatus } from '../../domain/refund';
import { openDetails, type SentDetails } from './payment-details';

/** The QR of a payment, as responses have it. */
export interface QrisBody {
  readonly payload: string;
  readonly image_url: string;
  readonly checkout_url: string;
  readonly expires_at: string;
}

/** Every member that a payment can have in addition. */
export interface ExpandedPayment extends Omit<SentDetails, 'returnUrl'> {
  readonly return_url: string | null;
  readonly checkout_url: string | null;
  readonly qris: QrisBody | null;
  readonly expires_at: string;
  readonly refund: {
    readonly number: number;
    readonly status: RefundStatus;
    readonly cancellable_until: string;
    readonly submitted_at: string | null;
    readonly finished_at: string | null;
    readonly failure_reason: string | null;
  } | null;
  readonly late_payment: {
    readonly status: LatePaymentStatus;
    readonly amount: number;
    readonly received_at: string;
    readonly finished_at: string | null;
  } | null;
  readonly failure_reason: string | null;
  readonly settlement: {
    readonly kind: 'automatic' | 'manual';
    readonly due_at: string | null;
    readonly settled_at: string | null;
  };
  readonly fee: {
    readonly amount: number;
    readonly vat_amount: number;
    readonly source: FeeSource;
    readonly class: MerchantClass | null;
    readonly basis_points: number;
    readonly flat_amount: number;
  } | null;
  readonly payment_link: { readonly id: string; readonly reference_id: string; readonly url: string } | null;
}

export interface RenderDependencies extends PublicAddresses {
  readonly sealer: Sealer;
}

/** Undefined before the provider has issued a QR, or if it never did. */
export async function toQris(
  payment: PaymentRow,
  { qrisLinks, checkoutLinks }: PublicAddresses,
): Promise<QrisBody | undefined> {
  if (payment.qrisPayload === null) return undefined;
  return {
    payload: payment.qrisPayload,
    image_url: await qrisLinks.urlOf(payment),
    checkout_url: await checkoutLinks.urlOf(payment),
    expires_at: payment.expiresAt.toISOString(),
  };
}

/** The wanted members of a payment whose parts were read. */
export async function expand(
  dependencies: RenderDependencies,
  payment: PaymentWithParts,
  wanted: readonly Expansion[],
): Promise<Partial<ExpandedPayment>> {
  if (wanted.length === 0) return {};
  const qris = (await toQris(payment, dependencies)) ?? null;
  const { returnUrl, ...details } = openDetails(dependencies.sealer, payment.id, payment.sealedDetails);
  const all: ExpandedPayment = {
    ...details,
    return_url: returnUrl,
    checkout_url: qris?.checkout_url ?? null,
    qris,
    expires_at: payment.expiresAt.toISOString(),
    refund: toRefund(payment.refund),
    late_payment: toLatePayment(payment.latePayment),
    failure_reason: payment.failureReason,
    settlement: {
      kind: payment.settlementKind,
      due_at: payment.settlementDueAt?.toISOString() ?? null,
      settled_at: payment.settledAt?.toISOString() ?? null,
    },
    fee: toFee(payment),
    payment_link: await toLink(payment.link, dependencies),
  };
  return Object.fromEntries(EXPANSIONS.filter((name) => wanted.includes(name)).map((name) => [name, all[name]]));
}

function toFee({ feeTerms, feeRupiah: amount, vatRupiah: vat_amount }: PaymentRow): ExpandedPayment['fee'] {
  if (!feeTerms) return null;
  const { source, class: own, basisPoints: basis_points, flatRupiah: flat_amount } = feeTerms;
  return { amount, vat_amount, source, class: own, basis_points, flat_amount };
}

async function toLink(
  link: PaymentWithParts['link'],
  { linkAddresses }: RenderDependencies,
): Promise<ExpandedPayment['payment_link']> {
  if (!link) return null;
  return { id: link.id, reference_id: link.referenceId, url: await linkAddresses.urlOf(link) };
}

const isoOf = (timeMs: number | null) => (timeMs === null ? null : new Date(timeMs).toISOString());

function toRefund(refund: PaymentWithParts['refund']): ExpandedPayment['refund'] {
  if (!refund) return null;
  return {
    number: refund.number,
    status: refund.status,
    cancellable_until: new Date(refund.submitAtMs).toISOString(),
    submitted_at: isoOf(refund.submittedAtMs),
    finished_at: isoOf(refund.finishedAtMs),
    failure_reason: refund.failureReason,
  };
}

function toLatePayment(late: PaymentWithParts['latePayment']): ExpandedPayment['late_payment'] {
  if (!late) return null;
  return {
    status: late.status,
    amount: late.totalRupiah,
    received_at: new Date(late.receivedAtMs).toISOString(),
    finished_at: isoOf(late.finishedAtMs),
  };
}
