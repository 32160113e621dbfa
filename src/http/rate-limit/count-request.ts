import type { Request } from 'express';
import { ApiError } from '../api-error';
import type { AuthenticatedMerchant } from '../auth/authenticate';
import type { RateLimit, RateLimitStatus } from './rate-limit';

/** An operator's key has no merchant. */
type Caller = Pick<AuthenticatedMerchant, 'keyId'> & Partial<Pick<AuthenticatedMerchant, 'merchantId'>>;

/**
 * Counts requests against the limits of the caller's key and merchant.
 * @returns the headers of the response (`RateLimit-*` as in draft-ietf-httpapi-ratelimit-headers-06), of the budget
 * with the smaller rest
 * @throws ApiError `rate_limited`, with the same headers and `Retry-After`
 */
export async function countRequests(
  rateLimit: RateLimit,
  caller: Caller,
  requests = 1,
): Promise<Record<string, string>> {
  const tightest = await takeFromBudgets(rateLimit, caller, requests);
  const { allowed, limit, remaining, resetSeconds } = tightest.status;
  const headers = {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
  if (allowed) return headers;
  const cost = requests === 1 ? '' : ' A bulk counts as one request for each item.';
  throw new ApiError(
    tightest.owner === 'merchant' ? 'merchant_rate' : 'key_rate',
    `A ${tightest.owner} may make ${limit} requests a minute; try again in ${resetSeconds} s.${cost}`,
    {
      headers: { ...headers, 'Retry-After': String(resetSeconds) },
      internal: `rate limit of ${tightest.owner} ${tightest.id}`,
    },
  );
}

/**
 * Counts the other items of a bulk, before any of them is created; its request is counted already. A bulk of more items
 * than the limit takes the whole limit, so that a bulk of 50 items is possible under every limit.
 * @throws ApiError `rate_limited`
 */
export async function countItems(
  rateLimit: RateLimit,
  request: Request,
  merchant: AuthenticatedMerchant,
  items: number,
): Promise<void> {
  const otherItems = Math.min(items, rateLimit.keyLimit, rateLimit.merchantLimit) - 1;
  if (otherItems > 0) request.res?.set(await countRequests(rateLimit, merchant, otherItems));
}

interface Budget {
  readonly owner: 'key' | 'merchant';
  readonly id: string;
  readonly status: RateLimitStatus;
}

/**
 * All requests of a key count for its merchant too, so a key's limit matters only if it is below the merchant's.
 * @returns the budget that rejects the requests, else the one with the smaller rest
 */
async function takeFromBudgets(rateLimit: RateLimit, caller: Caller, requests: number): Promise<Budget> {
  const { keyId, merchantId } = caller;
  if (merchantId === undefined) return takeFromKey(rateLimit, keyId, requests);
  if (rateLimit.merchantLimit <= rateLimit.keyLimit) return takeFromMerchant(rateLimit, merchantId, requests);
  const ofKey = await takeFromKey(rateLimit, keyId, requests);
  // A rejected key takes nothing from the other keys of its merchant.
  if (!ofKey.status.allowed) return ofKey;
  const ofMerchant = await takeFromMerchant(rateLimit, merchantId, requests);
  return ofMerchant.status.allowed && ofMerchant.status.remaining >= ofKey.status.remaining ? ofKey : ofMerchant;
}

async function takeFromKey(rateLimit: RateLimit, id: string, requests: number): Promise<Budget> {
  return { owner: 'key', id, status: await rateLimit.take(id, requests) };
}

async function takeFromMerchant(rateLimit: RateLimit, id: string, requests: number): Promise<Budget> {
  return { owner: 'merchant', id, status: await rateLimit.take(id, requests, rateLimit.merchantLimit) };
}
