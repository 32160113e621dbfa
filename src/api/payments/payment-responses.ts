import type { z } from 'zod';
import type { OriginalResponse } from '../../db/queries/find-original-response';
import type { PaymentRow } from '../../db/queries/payment-row';
import type { QrisLinks } from '../qris-images/qris-links';
import type {
  bulkItemSchema,
  cancelledPaymentSchema,
  createdPaymentSchema,
  listedPaymentSchema,
  paymentDetailSchema,
  qrisSchema,
  refundedPaymentSchema,
} from './payment-fields';

/** The contract's forms of a payment (`payment-schemas.ts`), made from its row. */

/** @throws Error for a payment that has no QR: creation is not answered with one */
export function createdPaymentView(
  { payment, original }: OriginalResponse,
  links: QrisLinks,
): z.output<typeof createdPaymentSchema> {
  const qris = qrisView(payment, links);
  if (!qris) throw new Error(`Payment ${payment.id} has no QR to answer with`);
  return {
    ...identity(payment),
    provider: payment.provider,
    currency: payment.currency,
    ...amounts(payment),
    status: original?.status ?? payment.status,
    qris_payload: qris.payload,
    qris_image_url: qris.image_url,
    expires_at: qris.expires_at,
    created_at: payment.createdAt.toISOString(),
    updated_at: (original?.at ?? payment.updatedAt).toISOString(),
  };
}

export function paymentDetailView(payment: PaymentRow): z.output<typeof paymentDetailSchema> {
  return {
    ...identity(payment),
    provider: payment.provider,
    currency: payment.currency,
    ...amounts(payment),
    status: payment.status,
    ...instants(payment),
  };
}

export function listedPaymentView(payment: PaymentRow): z.output<typeof listedPaymentSchema> {
  return {
    ...identity(payment),
    currency: payment.currency,
    ...amounts(payment),
    status: payment.status,
    ...instants(payment),
  };
}

export function cancelledPaymentView(payment: PaymentRow): z.output<typeof cancelledPaymentSchema> {
  return {
    ...identity(payment),
    currency: payment.currency,
    ...amounts(payment),
    status: payment.status,
    cancelled_at: payment.cancelledAt?.toISOString() ?? null,
  };
}

export function refundedPaymentView(payment: PaymentRow): z.output<typeof refundedPaymentSchema> {
  return {
    ...identity(payment),
    currency: payment.currency,
    ...amounts(payment),
    status: payment.status,
  };
}

/** One item of a bulk as it was first answered; while that is still to come, as `created` and without a deadline. */
export function bulkItemView(
  { payment, original }: OriginalResponse,
  apiError: z.output<typeof bulkItemSchema>['error'],
): z.output<typeof bulkItemSchema> {
  return {
    ...identity(payment),
    ...amounts(payment),
    status: original?.status ?? 'created',
    expires_at: original === null ? null : payment.expiresAt.toISOString(),
    ...(apiError && { error: apiError }),
  };
}

/** Undefined before there is a QR, and where there never was one. */
export function qrisView(payment: PaymentRow, links: QrisLinks): z.output<typeof qrisSchema> | undefined {
  if (payment.qrisPayload === null) return undefined;
  return {
    payload: payment.qrisPayload,
    image_url: links.imageUrl(payment.id),
    expires_at: payment.expiresAt.toISOString(),
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

function instants(payment: PaymentRow) {
  return {
    paid_at: payment.paidAt?.toISOString() ?? null,
    created_at: payment.createdAt.toISOString(),
    updated_at: payment.updatedAt.toISOString(),
  };
}
