import { ApiError } from '../api-error';
import type { RateLimit } from './rate-limit';

/**
 * Counts a request against its key's limit.
 * @returns the headers of its response (`RateLimit-*` as in draft-ietf-httpapi-ratelimit-headers-06)
 * @throws ApiError `rate_limited`, with the same headers and `Retry-After`
 */
export async function countRequest(rateLimit: RateLimit, keyId: string): Promise<Record<string, string>> {
  const { allowed, limit, remaining, resetSeconds } = await rateLimit.take(keyId);
  const headers = {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
  if (allowed) return headers;
  throw new ApiError('rate_limited', `A key may make ${limit} requests a minute; try again in ${resetSeconds} s.`, {
    headers: { ...headers, 'Retry-After': String(resetSeconds) },
    internal: `rate limit of key ${keyId}`,
  });
}
