import type { FirstAnswer } from '../db/reads/find-first-answer';
import type { PaymentRow } from '../db/reads/payment-row';
import type { QrisLinks } from './get-qris-picture/qris-links';

/** The contract's forms of a payment: exactly its keys, absent values as null. */

export function createdPaymentView({ payment, answered }: FirstAnswer, links: QrisLinks) {
  return {
    ...identity(payment),
    provider: payment.provider,
    currency: payment.currency,
    ...amounts(payment),
    status: answered?.status ?? payment.status,
    qris_payload: payment.qrisPayload,
    qris_image_url: payment.qrisPayload === null ? null : links.imageUrl(payment.id),
    expires_at: payment.expiresAt.toISOString(),
    created_at: payment.createdAt.toISOString(),
    updated_at: (answered?.at ?? payment.updatedAt).toISOString(),
  };
}

export function paymentDetailView(payment: PaymentRow) {
  return {
    ...identity(payment),
    provider: payment.provider,
    currency: payment.currency,
    ...amounts(payment),
    status: payment.status,
    paid_at: payment.paidAt?.toISOString() ?? null,
    created_at: payment.createdAt.toISOString(),
    updated_at: payment.updatedAt.toISOString(),
  };
}

function identity(payment: PaymentRow) {
  return {
    id: payment.id,
    reference_id: payment.referenceId,
    merchant_reference_id: payment.merchantReferenceId,
    payment_method_code: payment.paymentMethod,
  };
}

function amounts(payment: PaymentRow) {
  return {
    amount: payment.amountRupiah,
    fee_amount: payment.feeRupiah,
    net_amount: payment.netRupiah,
    total_amount: payment.totalRupiah,
  };
}
