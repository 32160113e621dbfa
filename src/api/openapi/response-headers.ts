/** The headers of answers, with what the documentation says of them. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': 'Names the request; tell us when you ask about it.',
  'RateLimit-Limit': 'How many requests the key may make in a minute.',
  'RateLimit-Remaining': 'How many of them are left.',
  'RateLimit-Reset': 'In how many seconds all of them are there again.',
  'Retry-After': 'In how many seconds to try again.',
  'Idempotency-Replayed': '`true` where the first answer to the same request is repeated.',
  Link: 'The address of the next page, with `rel="next"` (RFC 8288); missing on the last page.',
} as const;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** Those that answers of this status have, as the order of checks decides it. */
export function usualHeaders(httpStatus: number): readonly ResponseHeader[] {
  switch (httpStatus) {
    case 401:
    case 403:
    case 500:
      return ['X-Request-Id'];
    case 429:
      return ['X-Request-Id', ...RATE_LIMIT, 'Retry-After'];
    default:
      return ['X-Request-Id', ...RATE_LIMIT];
  }
}
