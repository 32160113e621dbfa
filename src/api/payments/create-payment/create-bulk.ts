import { z } from 'zod';
import { findOriginalResponses, type OriginalResponse } from '../../../db/queries/find-original-response';
import type { PaymentTerms } from '../../../domain/payment';
import { ApiError, errorSchema } from '../../api-error';
import type { AuthenticatedMerchant } from '../../auth/authenticate';
import type { EndpointResponse } from '../../endpoint';
import { amountFields, amountFieldsOf, identityFields, identityFieldsOf, PAYMENT_FIELDS } from '../payment-fields';
import type { ApiDependencies } from '../../dependencies';
import { toApiError, REPLAYED_HEADER, assertSameRequest } from './original-response';
import { bulkItemRequestSchema, parseRequest, requireObject, type BulkItemRequest, MAX_ITEMS } from './payment-request';
import { captureTerms, resolvePolicy, draftPayment, type PaymentDraft } from './capture-terms';

/** An item of a bulk: one still unclear at the deadline is `created`, a refused one `failed` with the reason. */
export const bulkItemSchema = z.object({
  ...identityFields,
  ...amountFields,
  status: PAYMENT_FIELDS.status,
  expires_at: PAYMENT_FIELDS.expires_at
    .nullable()
    .meta({ description: 'Until when the customer can pay; null before there is a QR.' }),
  error: errorSchema(['payment_create_failed'])
    .optional()
    .meta({ description: 'Why the provider refused this item; only on a `failed` one.' }),
});

type BulkItem = z.output<typeof bulkItemSchema>;

/**
 * A bulk: whatever is wrong with the request creates nothing; then the items are created side by side, each under a key
 * of its own, so that a repeat of the request converges on the same payments.
 * @param headerKey the request's `Idempotency-Key`: an item without a key of its own gets `<headerKey>:<index>`
 */
export async function createBulk(
  dependencies: ApiDependencies,
  merchant: AuthenticatedMerchant,
  body: Record<string, unknown>,
  headerKey: string | null,
): Promise<EndpointResponse<{ payments: BulkItem[] }>> {
  const draft = parseItems(body).map((item, index) =>
    requestContext(merchant, item, headerKey && `${headerKey}:${index}`),
  );
  requireDistinctKeys(draft);
  const ids = draft.map(({ identity }) => identity.paymentId);
  const earlier = await findOriginalResponses(dependencies.db, ids);
  requireSamePayments(draft, earlier);

  const terms = await captureOpenTerms(dependencies, merchant, draft, earlier);
  const failures = await Promise.all(
    terms.map((own) => dependencies.creations.create(own).catch((error: unknown) => error)),
  );
  const created = terms.length === 0 ? earlier : await findOriginalResponses(dependencies.db, ids);
  requireSamePayments(draft, created);
  const items = ids.flatMap((id) => created.get(id) ?? []);
  // One that is still unclear is answered as `created`; one that did not even begin fails the request, to be repeated.
  if (items.length < ids.length) throw new AggregateError(failures.filter(Boolean), 'Not every payment was created');
  return response(items, terms.length === 0);
}

/** @throws ApiError that names the item and the field */
function parseItems({ payments, ...top }: Record<string, unknown>): BulkItemRequest[] {
  if (!Array.isArray(payments) || payments.length < 1 || payments.length > MAX_ITEMS) {
    throw new ApiError('invalid_bulk_size');
  }
  const { provider, currency, payment_method } = top;
  return payments.map((item: unknown, index) => {
    const own = requireObject(item, `payments[${index}]`);
    return parseRequest(bulkItemRequestSchema, { currency, payment_method, ...own, provider }, `payments[${index}].`);
  });
}

function requestContext(
  merchant: AuthenticatedMerchant,
  item: BulkItemRequest,
  fallbackKey: string | null,
): PaymentDraft {
  const { idempotency_key, ...request } = item;
  return draftPayment(merchant, request, idempotency_key ?? fallbackKey);
}

function requireDistinctKeys(draft: readonly PaymentDraft[]): void {
  const seen = new Set<string>();
  for (const [index, { identity }] of draft.entries()) {
    if (seen.has(identity.paymentId)) {
      throw new ApiError('payment_create_failed', `payments[${index}].idempotency_key is used twice in this request.`);
    }
    seen.add(identity.paymentId);
  }
}

function requireSamePayments(draft: readonly PaymentDraft[], known: ReadonlyMap<string, OriginalResponse>): void {
  for (const [index, item] of draft.entries()) {
    const response = known.get(item.identity.paymentId);
    if (response) withItemPrefix(`payments[${index}]`, () => assertSameRequest(response, item));
  }
}

/** The terms of all that is still to be created: an impossible item is found before any is created. */
async function captureOpenTerms(
  dependencies: ApiDependencies,
  merchant: AuthenticatedMerchant,
  draft: readonly PaymentDraft[],
  earlier: ReadonlyMap<string, OriginalResponse>,
): Promise<PaymentTerms[]> {
  const open = [...draft.entries()].filter(([, { identity }]) => !earlier.get(identity.paymentId)?.original);
  if (!open[0]) return [];
  const policy = await resolvePolicy(dependencies, merchant, open[0][1].request);
  return open.map(([index, item]) =>
    withItemPrefix(`payments[${index}]`, () => captureTerms(dependencies, merchant, item, policy)),
  );
}

/** Has a refusal say which item it is about. */
function withItemPrefix<Result>(item: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `${item}: ${error.message}`, { internal: `${item}: ${error.internal}` });
  }
}

function response(items: readonly OriginalResponse[], replayed: boolean): EndpointResponse<{ payments: BulkItem[] }> {
  const refusals = items.map((item) => (item.original?.status === 'failed' ? toApiError(item) : undefined));
  const headers = replayed ? REPLAYED_HEADER : {};
  const allRejected = refusals.every((apiError) => apiError !== undefined);
  if (allRejected) {
    const reasons = refusals.map((apiError, index) => `payments[${index}]: ${apiError?.message}`);
    throw new ApiError('payment_create_failed', reasons.join(' '), { headers });
  }
  return {
    status: 201,
    headers,
    body: { payments: items.map((item, index) => toBulkItem(item, refusals[index]?.message)) },
  };
}

/** One item of a bulk as it was first answered; while that is still to come, as `created` and without a deadline. */
function toBulkItem({ payment, original }: OriginalResponse, rejection: string | undefined): BulkItem {
  return {
    ...identityFieldsOf(payment),
    ...amountFieldsOf(payment),
    status: original?.status ?? 'created',
    expires_at: original === null ? null : payment.expiresAt.toISOString(),
    ...(rejection !== undefined && { error: { code: 'payment_create_failed', message: rejection } }),
  };
}
