import { z } from 'zod';
import type { PublicAddresses } from '../../../crypto/public-links';
import type { CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import type { EndpointResponse } from '../../../http/endpoint';
import { createPayment, type Created, type CreateDependencies } from '../../../services/payments/create/create-payment';
import type { PaymentDraft } from '../../../services/payments/create/payment-draft';
import { toQris, type QrisBody } from '../../../services/payments/expand';
import { expandedFields } from '../expand';
import { qrisSchema } from '../get-qris';
import { PAYMENT_FIELDS, paymentFields, paymentFieldsOf } from '../payment-fields';
import { rejectionError, replayHeaders } from './rejection-error';

const { payload, image_url, expires_at } = qrisSchema.shape;
const { created_at, updated_at } = PAYMENT_FIELDS;

export const createdPaymentSchema = z.object({
  ...paymentFields,
  qris_payload: payload,
  qris_image_url: image_url,
  ...expandedFields,
  expires_at,
  created_at,
  updated_at,
});

export type SingleDependencies = CreateDependencies & PublicAddresses;

type CreatedPayment = z.output<typeof createdPaymentSchema>;

/** @throws ApiError for each rejection */
export async function createSingle(
  dependencies: SingleDependencies,
  merchant: CreatingMerchantRow,
  draft: PaymentDraft,
): Promise<EndpointResponse<{ payment: CreatedPayment }>> {
  const result = await createPayment(dependencies, merchant, draft);
  if (result.outcome === 'rejected') throw rejectionError(result.rejection);
  const { payment, isRepeat } = result;
  const qris = await toQris(payment, dependencies);
  if (!qris) throw new Error(`Payment ${payment.id} has no QR for the response`);
  const headers = { ...(isRepeat && replayHeaders(payment.status)), Link: `<${qris.checkout_url}>; rel="payment"` };
  return { status: 201, headers, body: { payment: toCreatedPayment(result, qris) } };
}

/** The payment with what the first response had. */
function toCreatedPayment({ payment, issuedAt }: Created, qris: QrisBody): CreatedPayment {
  return {
    ...paymentFieldsOf(payment),
    status: 'pending',
    qris_payload: qris.payload,
    qris_image_url: qris.image_url,
    expires_at: qris.expires_at,
    created_at: payment.createdAt.toISOString(),
    updated_at: issuedAt.toISOString(),
  };
}
