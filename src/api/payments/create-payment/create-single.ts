import { z } from 'zod';
import { findOriginalResponse, type OriginalResponse } from '../../../db/payments/find-original-response';
import { storeDetails } from '../../../db/payments/payment-details';
import { ExplainedFailure } from '../../../http/api-error';
import type { EndpointResponse } from '../../../http/endpoint';
import { toQris, type QrisBody } from '../../../services/payments/expand';
import { isWithoutResponse } from '../../../temporal/grpc-errors';
import { logPayment } from '../../../temporal/log-payment';
import type { ApiDependencies } from '../../dependencies';
import { expandedFields } from '../expand';
import { qrisSchema } from '../get-qris';
import { PAYMENT_FIELDS, paymentFields, paymentFieldsOf } from '../payment-fields';
import { captureTerms, resolvePolicy, type CreatingMerchant, type PaymentDraft } from './capture-terms';
import { replayHeaders, requireSameRequest, toApiError } from './original-response';
import { sealDetails } from './seal-details';

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

export type SingleDependencies = Pick<
  ApiDependencies,
  'db' | 'createFlights' | 'lostWorkflows' | 'sealer' | 'derivedKeys' | 'qrisLinks' | 'checkoutLinks'
>;

type CreatedPayment = z.output<typeof createdPaymentSchema>;

export async function createSingle(
  dependencies: SingleDependencies,
  merchant: CreatingMerchant,
  draft: PaymentDraft,
): Promise<EndpointResponse<{ payment: CreatedPayment }>> {
  const { paymentId, idempotencyKey } = draft.identity;
  logPayment(paymentId);
  const found = idempotencyKey === null ? undefined : await findOriginalResponse(dependencies.db, paymentId);
  const earlier = found && (await requireSameRequest(dependencies, found, draft));
  if (earlier?.original) return toResponse(dependencies, earlier, replayHeaders(earlier));

  dependencies.createFlights.requireSlot(draft.identity, merchant.merchantId, draft.request.provider);
  const policy = await resolvePolicy(dependencies, merchant, draft.request);
  const terms = captureTerms(merchant, draft, policy);
  const prepare = () => storeDetails(dependencies.db, sealDetails(dependencies, [draft]));
  await dependencies.createFlights.create(terms, prepare).catch((error: unknown) => {
    throw isWithoutResponse(error)
      ? new ExplainedFailure(`no QR in time for ${terms.referenceId}`, { cause: error })
      : error;
  });
  const written = await findOriginalResponse(dependencies.db, paymentId);
  const created = written && (await requireSameRequest(dependencies, written, draft));
  if (!created?.original) {
    // Temporal has ended its workflow before the provider's response: the next repeat of the request joins a new one.
    if (created) dependencies.lostWorkflows.check(created.payment);
    throw new ExplainedFailure(`${terms.referenceId} was created, and its workflow ended before the QR`);
  }
  return toResponse(dependencies, created);
}

async function toResponse(
  dependencies: SingleDependencies,
  created: OriginalResponse,
  headers: EndpointResponse['headers'] = {},
): Promise<EndpointResponse<{ payment: CreatedPayment }>> {
  if (created.original?.status === 'failed') throw toApiError(created, headers);
  const qris = await toQris(created.payment, dependencies);
  if (!qris) throw new Error(`Payment ${created.payment.id} has no QR for the response`);
  const link = `<${qris.checkout_url}>; rel="payment"`;
  return { status: 201, headers: { ...headers, Link: link }, body: { payment: toCreatedPayment(created, qris) } };
}

function toCreatedPayment({ payment, original }: OriginalResponse, qris: QrisBody): CreatedPayment {
  return {
    ...paymentFieldsOf(payment),
    status: original?.status ?? payment.status,
    qris_payload: qris.payload,
    qris_image_url: qris.image_url,
    expires_at: qris.expires_at,
    created_at: payment.createdAt.toISOString(),
    updated_at: (original?.at ?? payment.updatedAt).toISOString(),
  };
}
