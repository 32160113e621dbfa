import { z } from 'zod';
import type { OriginalResponse } from '../../../db/payments/find-original-response';
import { ApiError, errorSchema } from '../../../http/api-error';
import type { AuthenticatedMerchant } from '../../../http/auth/authenticate';
import type { EndpointResponse } from '../../../http/endpoint';
import type { CreateDependencies } from '../../../services/payments/create/create-payment';
import { createPayments } from '../../../services/payments/create/create-payments';
import { draftPayment, type PaymentDraft } from '../../../services/payments/create/payment-draft';
import { expandedFields } from '../expand';
import { amountFields, amountFieldsOf, identityFields, identityFieldsOf, PAYMENT_FIELDS } from '../payment-fields';
import {
  bulkItemRequestSchema,
  MAX_ITEMS,
  parseRequest,
  requireObject,
  toNewPayment,
  type BulkItemRequest,
} from './payment-request';
import { providerRejection, rejectionError, REPLAYED_HEADER } from './rejection-error';

/** An item without a result at the deadline is `created`; a rejected item is `failed`, with the reason. */
export const bulkItemSchema = z.object({
  ...identityFields,
  ...amountFields,
  status: PAYMENT_FIELDS.status,
  ...expandedFields,
  expires_at: PAYMENT_FIELDS.expires_at
    .nullable()
    .meta({ description: 'The customer can pay until this time; null before the QR is issued.' }),
  error: errorSchema(['payment_create_failed'])
    .optional()
    .meta({ description: 'Why the provider rejected this item; only if it is `failed`.' }),
});

type BulkItem = z.output<typeof bulkItemSchema>;

/**
 * An invalid request creates nothing. Then the items are created concurrently, each under a key of its own, so that a
 * repeat of the request finds the same payments.
 * @param headerKey the request's `Idempotency-Key`: an item without a key of its own gets `<headerKey>:<index>`
 * @throws ApiError for each rejection
 */
export async function createBulk(
  dependencies: CreateDependencies,
  merchant: AuthenticatedMerchant,
  items: readonly BulkItemRequest[],
  headerKey: string | null,
): Promise<EndpointResponse<{ payments: BulkItem[] }>> {
  const drafts = items.map((item, index) =>
    draftItem(dependencies, merchant, item, headerKey && `${headerKey}:${index}`),
  );
  requireDistinctKeys(drafts);
  const result = await createPayments(dependencies, merchant, drafts);
  if (result.outcome === 'rejected') throw rejectionError(result.rejection, result.item);
  return response(result.payments, result.isRepeat);
}

/** @throws ApiError that names the item and the field */
export function parseItems({ payments, ...top }: Record<string, unknown>): BulkItemRequest[] {
  if (!Array.isArray(payments) || payments.length < 1 || payments.length > MAX_ITEMS) {
    throw new ApiError('invalid_bulk_size');
  }
  const { provider, currency, payment_method } = top;
  return payments.map((item: unknown, index) => {
    const own = requireObject(item, `payments[${index}]`);
    return parseRequest(bulkItemRequestSchema, { currency, payment_method, ...own, provider }, `payments[${index}].`);
  });
}

function draftItem(
  dependencies: CreateDependencies,
  merchant: AuthenticatedMerchant,
  item: BulkItemRequest,
  fallbackKey: string | null,
): PaymentDraft {
  return draftPayment(dependencies, merchant, toNewPayment(item), item.idempotency_key ?? fallbackKey);
}

function requireDistinctKeys(drafts: readonly PaymentDraft[]): void {
  const seen = new Set<string>();
  for (const [index, { identity }] of drafts.entries()) {
    if (seen.has(identity.paymentId)) {
      const message = `payments[${index}].idempotency_key is used twice in this request.`;
      throw new ApiError('idempotency_key_reused', message);
    }
    seen.add(identity.paymentId);
  }
}

function response(items: readonly OriginalResponse[], isRepeat: boolean): EndpointResponse<{ payments: BulkItem[] }> {
  const headers = isRepeat ? REPLAYED_HEADER : {};
  const rejections = items.map(rejectionOf);
  if (rejections.every((message) => message !== undefined)) {
    const reasons = rejections.map((message, index) => `payments[${index}]: ${message}`);
    throw new ApiError('provider_rejected', reasons.join(' '), { headers });
  }
  return { status: 201, headers, body: { payments: items.map((item, index) => toBulkItem(item, rejections[index])) } };
}

/** Why the provider issued no QR. */
function rejectionOf({ payment, original }: OriginalResponse): string | undefined {
  return original?.status === 'failed' ? providerRejection(payment.failureReason) : undefined;
}

/** An item as in its original response; before there is one, `created` and without a deadline. */
function toBulkItem({ payment, original }: OriginalResponse, rejection: string | undefined): BulkItem {
  return {
    ...identityFieldsOf(payment),
    ...amountFieldsOf(payment),
    status: original?.status ?? 'created',
    expires_at: original === null ? null : payment.expiresAt.toISOString(),
    ...(rejection !== undefined && { error: { code: 'payment_create_failed', message: rejection } }),
  };
}
