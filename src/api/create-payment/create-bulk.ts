import { findFirstAnswers, type FirstAnswer } from '../../db/reads/find-first-answer';
import type { PaymentTerms } from '../../domain/payment';
import { ApiError } from '../api-error';
import type { Merchant } from '../auth/authenticate';
import type { Answer } from '../endpoint';
import { bulkItemView } from '../payment-views';
import type { ApiServices } from '../services';
import { refusalOf, REPLAYED, requireSamePayment } from './first-answer';
import { bulkItemRequestSchema, parseRequest, requireObject, type BulkItemRequest } from './payment-request';
import { captureTerms, findOffer, wantPayment, type WantedPayment } from './payment-terms';

/** All of them are created side by side, so that one deadline holds for the whole request. */
const MOST_ITEMS = 50;

/**
 * A bulk: whatever is wrong with the request creates nothing; then the items are created side by side, each under a key
 * of its own, so that a repeat of the request converges on the same payments.
 * @param headerKey the request's `Idempotency-Key`: an item without a key of its own gets `<headerKey>:<index>`
 */
export async function createBulk(
  services: ApiServices,
  merchant: Merchant,
  body: Record<string, unknown>,
  headerKey: string | null,
): Promise<Answer> {
  const wanted = parseItems(body).map((item, index) => identify(merchant, item, headerKey && `${headerKey}:${index}`));
  requireDistinctKeys(wanted);
  const ids = wanted.map(({ identity }) => identity.paymentId);
  const earlier = await findFirstAnswers(services.db, ids);
  requireSamePayments(wanted, earlier);

  const terms = await captureOpenTerms(services, merchant, wanted, earlier);
  const failures = await Promise.all(
    terms.map((own) => services.creations.create(own).catch((error: unknown) => error)),
  );
  const created = terms.length === 0 ? earlier : await findFirstAnswers(services.db, ids);
  requireSamePayments(wanted, created);
  const items = ids.flatMap((id) => created.get(id) ?? []);
  // One that is still unclear is answered as `created`; one that did not even begin fails the request, to be repeated.
  if (items.length < ids.length) throw new AggregateError(failures.filter(Boolean), 'Not every payment was created');
  return answer(items, terms.length === 0);
}

/** @throws ApiError that names the item and the field */
function parseItems({ payments, ...top }: Record<string, unknown>): BulkItemRequest[] {
  if (!Array.isArray(payments) || payments.length < 1 || payments.length > MOST_ITEMS) {
    throw new ApiError('invalid_bulk_size');
  }
  const { provider, currency, payment_method } = top;
  return payments.map((item: unknown, index) => {
    const own = requireObject(item, `payments[${index}]`);
    return parseRequest(bulkItemRequestSchema, { currency, payment_method, ...own, provider }, `payments[${index}].`);
  });
}

function identify(merchant: Merchant, item: BulkItemRequest, fallbackKey: string | null): WantedPayment {
  const { idempotency_key, ...request } = item;
  return wantPayment(merchant, request, idempotency_key ?? fallbackKey);
}

function requireDistinctKeys(wanted: readonly WantedPayment[]): void {
  const seen = new Set<string>();
  for (const [index, { identity }] of wanted.entries()) {
    if (seen.has(identity.paymentId)) {
      throw new ApiError('payment_create_failed', `payments[${index}].idempotency_key is used twice in this request.`);
    }
    seen.add(identity.paymentId);
  }
}

function requireSamePayments(wanted: readonly WantedPayment[], known: ReadonlyMap<string, FirstAnswer>): void {
  for (const [index, item] of wanted.entries()) {
    const answer = known.get(item.identity.paymentId);
    if (answer) naming(`payments[${index}]`, () => requireSamePayment(answer, item));
  }
}

/** The terms of all that is still to be created: an impossible item is found before any is created. */
async function captureOpenTerms(
  services: ApiServices,
  merchant: Merchant,
  wanted: readonly WantedPayment[],
  earlier: ReadonlyMap<string, FirstAnswer>,
): Promise<PaymentTerms[]> {
  const open = [...wanted.entries()].filter(([, { identity }]) => !earlier.get(identity.paymentId)?.answered);
  if (!open[0]) return [];
  const offer = await findOffer(services, merchant, open[0][1].request);
  return open.map(([index, item]) => naming(`payments[${index}]`, () => captureTerms(services, merchant, item, offer)));
}

/** Has a refusal say which item it is about. */
function naming<Result>(item: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ApiError ? new ApiError(error.code, `${item}: ${error.message}`) : error;
  }
}

function answer(items: readonly FirstAnswer[], replayed: boolean): Answer {
  const refusals = items.map((item) => (item.answered?.status === 'failed' ? refusalOf(item) : undefined));
  const headers = replayed ? REPLAYED : {};
  const allRefused = refusals.every((refusal) => refusal !== undefined);
  if (allRefused) {
    const reasons = refusals.map((refusal, index) => `payments[${index}]: ${refusal?.message}`);
    throw new ApiError('payment_create_failed', reasons.join(' '), headers);
  }
  return {
    status: 201,
    headers,
    body: { payments: items.map((item, index) => bulkItemView(item, refusals[index]?.body.error)) },
  };
}
