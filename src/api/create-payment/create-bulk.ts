import { findFirstAnswer, findFirstAnswers, type FirstAnswer } from '../../db/reads/find-first-answer';
import { ApiError } from '../api-error';
import type { Merchant } from '../auth/authenticate';
import type { Answer } from '../endpoint';
import { bulkItemView } from '../payment-views';
import type { ApiServices } from '../services';
import { refusalOf, REPLAYED, requireSamePayment } from './first-answer';
import { paymentIdentity } from './payment-identity';
import { bulkItemRequestSchema, parseRequest, requireObject, type BulkItemRequest } from './payment-request';
import { captureTerms, findOffer, type WantedPayment } from './payment-terms';

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
  const earlier = await findFirstAnswers(
    services.db,
    wanted.map(({ identity }) => identity.paymentId),
  );
  wanted.forEach((item, index) => {
    const known = earlier.get(item.identity.paymentId);
    if (known) requireSamePayment(known, item, `payments[${index}]: `);
  });

  const create = await prepare(services, merchant, wanted, earlier);
  const items = await Promise.all(wanted.map(create));
  return answer(
    items,
    wanted.every(({ identity }) => earlier.get(identity.paymentId)?.answered),
  );
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
  const idempotencyKey = idempotency_key ?? fallbackKey;
  return { request, identity: { ...paymentIdentity(merchant.merchantId, idempotencyKey), idempotencyKey } };
}

function requireDistinctKeys(wanted: readonly WantedPayment[]): void {
  const seen = new Set<string>();
  for (const [index, { identity }] of wanted.entries()) {
    if (seen.has(identity.paymentId)) {
      throw new ApiError('payment_create_failed', `payments[${index}].idempotency_key: is used twice in this request.`);
    }
    seen.add(identity.paymentId);
  }
}

/** Captures the terms of all that is still to be created, so that an impossible item is found before any is created. */
async function prepare(
  services: ApiServices,
  merchant: Merchant,
  wanted: readonly WantedPayment[],
  earlier: ReadonlyMap<string, FirstAnswer>,
): Promise<(item: WantedPayment) => Promise<FirstAnswer>> {
  const open = wanted.filter(({ identity }) => !earlier.get(identity.paymentId)?.answered);
  const offer = open[0] && (await findOffer(services, merchant, open[0].request));
  const terms = new Map(
    open.map((item) => [
      item,
      offer && naming(`payments[${wanted.indexOf(item)}]`, () => captureTerms(services, merchant, item, offer)),
    ]),
  );

  return async (item) => {
    const { paymentId } = item.identity;
    const known = earlier.get(paymentId);
    const own = terms.get(item);
    if (known && !own) return known;
    const failed = own && (await services.engine.createPayment(own).catch((error: unknown) => ({ error })));
    const created = await findFirstAnswer(services.db, paymentId);
    // One that is still unclear is answered as `created`; one that did not even begin fails the request, to be repeated.
    if (!created) throw new Error(`Payment ${paymentId} was not created`, { cause: failed?.error });
    requireSamePayment(created, item);
    return created;
  };
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
  const allRefused = refusals.every((refusal) => refusal !== undefined);
  if (allRefused) {
    const reasons = refusals.map((refusal, index) => `payments[${index}]: ${refusal?.message}`);
    throw new ApiError('payment_create_failed', reasons.join(' '));
  }
  return {
    status: 201,
    headers: replayed ? REPLAYED : {},
    body: { payments: items.map((item, index) => bulkItemView(item, refusals[index]?.body.error)) },
  };
}
