import { z } from 'zod';
import { findOriginalResponses, type OriginalResponse } from '../../../db/payments/find-original-response';
import { storeDetails } from '../../../db/payments/payment-details';
import type { PaymentTerms } from '../../../domain/payment';
import { ApiError, errorSchema } from '../../../http/api-error';
import type { AuthenticatedMerchant } from '../../../http/auth/authenticate';
import type { EndpointResponse } from '../../../http/endpoint';
import { addLogIds } from '../../../observability/correlation';
import type { ApiDependencies } from '../../dependencies';
import { expandedFields } from '../expand';
import { amountFields, amountFieldsOf, identityFields, identityFieldsOf, PAYMENT_FIELDS } from '../payment-fields';
import { captureTerms, draftPayment, resolvePolicy, type PaymentDraft } from './capture-terms';
import { REPLAYED_HEADER, requireSameRequest, toApiError } from './original-response';
import { bulkItemRequestSchema, MAX_ITEMS, parseRequest, requireObject, type BulkItemRequest } from './payment-request';
import { sealDetails } from './seal-details';

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

export type BulkDependencies = Pick<ApiDependencies, 'db' | 'createFlights' | 'sealer' | 'derivedKeys'>;

type BulkItem = z.output<typeof bulkItemSchema>;

/**
 * An invalid request creates nothing. Then the items are created concurrently, each under a key of its own, so that a
 * repeat of the request finds the same payments.
 * @param headerKey the request's `Idempotency-Key`: an item without a key of its own gets `<headerKey>:<index>`
 */
export async function createBulk(
  dependencies: BulkDependencies,
  merchant: AuthenticatedMerchant,
  items: readonly BulkItemRequest[],
  headerKey: string | null,
): Promise<EndpointResponse<{ payments: BulkItem[] }>> {
  const drafts = items.map((item, index) =>
    draftItem(dependencies, merchant, item, headerKey && `${headerKey}:${index}`),
  );
  requireDistinctKeys(drafts);
  const ids = drafts.map(({ identity }) => identity.paymentId);
  addLogIds({ paymentIds: ids });
  const earlier = await findSamePayments(dependencies, drafts);

  const terms = await captureOpenTerms(dependencies, merchant, drafts, earlier);
  const prepare = () => storeDetails(dependencies.db, sealDetails(dependencies, drafts));
  const creations = dependencies.createFlights.createAll(terms, prepare);
  const failures = await Promise.all(creations.map((creation) => creation.catch((error: unknown) => error)));
  const rejection = failures.find((failure) => failure instanceof ApiError);
  if (rejection && failures.every((failure) => failure instanceof ApiError)) throw rejection;
  const created = terms.length === 0 ? earlier : await findSamePayments(dependencies, drafts);
  const responses = ids.flatMap((id) => created.get(id) ?? []);
  // An item without a result is `created` in the response; an item that was not stored fails the request, for a repeat.
  if (responses.length < ids.length)
    throw rejection ?? new AggregateError(failures.filter(Boolean), 'Not every payment was created');
  return response(responses, terms.length === 0);
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
  dependencies: BulkDependencies,
  merchant: AuthenticatedMerchant,
  item: BulkItemRequest,
  fallbackKey: string | null,
): PaymentDraft {
  const { idempotency_key, ...request } = item;
  return draftPayment(dependencies, merchant, request, idempotency_key ?? fallbackKey);
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

/** The original responses of the items that exist, by payment id. @throws ApiError if a key has another payment */
async function findSamePayments(
  dependencies: BulkDependencies,
  drafts: readonly PaymentDraft[],
): Promise<ReadonlyMap<string, OriginalResponse>> {
  const ids = drafts.map(({ identity }) => identity.paymentId);
  const found = await findOriginalResponses(dependencies.db, ids);
  const responses = new Map<string, OriginalResponse>();
  for (const [index, draft] of drafts.entries()) {
    const { paymentId } = draft.identity;
    const earlier = found.get(paymentId);
    if (!earlier) continue;
    const same = () => requireSameRequest(dependencies, earlier, draft);
    responses.set(paymentId, await withItemPrefix(`payments[${index}]`, same));
  }
  return responses;
}

/** The terms of all items that do not exist yet, so that an impossible item is found before any is created. */
async function captureOpenTerms(
  dependencies: BulkDependencies,
  merchant: AuthenticatedMerchant,
  drafts: readonly PaymentDraft[],
  earlier: ReadonlyMap<string, OriginalResponse>,
): Promise<PaymentTerms[]> {
  const open = [...drafts.entries()].filter(([, { identity }]) => !earlier.get(identity.paymentId)?.original);
  if (!open[0]) return [];
  const policy = await resolvePolicy(dependencies, merchant, open[0][1].request);
  return Promise.all(
    open.map(([index, item]) => withItemPrefix(`payments[${index}]`, async () => captureTerms(merchant, item, policy))),
  );
}

/** Adds the item to the message of an `ApiError`. */
async function withItemPrefix<Result>(item: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.reason ?? error.code, `${item}: ${error.message}`, {
      internal: `${item}: ${error.internal}`,
    });
  }
}

function response(items: readonly OriginalResponse[], replayed: boolean): EndpointResponse<{ payments: BulkItem[] }> {
  const rejections = items.map((item) => (item.original?.status === 'failed' ? toApiError(item) : undefined));
  const headers = replayed ? REPLAYED_HEADER : {};
  const allRejected = rejections.every((apiError) => apiError !== undefined);
  if (allRejected) {
    const reasons = rejections.map((apiError, index) => `payments[${index}]: ${apiError?.message}`);
    throw new ApiError('provider_rejected', reasons.join(' '), { headers });
  }
  return {
    status: 201,
    headers,
    body: { payments: items.map((item, index) => toBulkItem(item, rejections[index]?.message)) },
  };
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
