import { ERROR_REASONS } from '../../domain/errors';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';

/** The headers of responses and their documentation. */
const RESPONSE_HEADERS = {
  'X-Request-Id': 'Identifies the request; include it when you contact support.',
  'RateLimit-Limit': 'Requests that the key may make per minute.',
  'RateLimit-Remaining': 'Remaining requests of this minute.',
  'RateLimit-Reset': 'Seconds until the limit resets.',
  'X-Error-Reason': 'Which of the mistakes of the code it is; one of the reasons in the description of the document.',
  'X-Ignored-Fields':
    'Names in the body that are no fields of it, such as `ttl, payments[].callback_url`; missing if there are none.',
  'X-Ignored-Parameters': 'Names in the query that are no parameters of it; missing if there are none.',
  'Retry-After': 'Seconds to wait before the next attempt.',
  'Idempotency-Replayed': '`true` if the original response to the same request is repeated.',
  'X-Payment-Status': 'The current status, if the original response to the same request is repeated.',
  Link: [
    'An address (RFC 8288). Of a list: the next page, with `rel="next"`; missing on the last page.',
    'Of a created transaction: its checkout page, with `rel="payment"`.',
  ].join(' '),
} as const;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The values of headers that have no others. */
const VALUES: Readonly<Partial<Record<string, readonly string[]>>> = {
  'X-Error-Reason': Object.keys(ERROR_REASONS),
  'X-Payment-Status': PAYMENT_STATUSES,
} satisfies Partial<Record<ResponseHeader, readonly string[]>>;

/** The components of the OpenAPI document. */
export function describeHeaders() {
  const described = Object.entries(RESPONSE_HEADERS).map(([name, description]) => {
    const values = VALUES[name];
    return [name, { description, schema: { type: 'string', ...(values && { enum: values }) } }] as const;
  });
  return Object.fromEntries(described);
}

const RATE_LIMIT = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** The headers of every response with this status; the order of the checks decides. */
export function usualHeaders(httpStatus: number, readsBody: boolean): readonly ResponseHeader[] {
  const ignored = readsBody
    ? (['X-Ignored-Fields', 'X-Ignored-Parameters'] as const)
    : (['X-Ignored-Parameters'] as const);
  switch (httpStatus) {
    case 401:
    case 403:
      return ['X-Request-Id', 'X-Error-Reason'];
    case 429:
      return ['X-Request-Id', 'X-Error-Reason', ...RATE_LIMIT, 'Retry-After', ...ignored];
    case 400:
    case 404:
      return ['X-Request-Id', 'X-Error-Reason', ...RATE_LIMIT, ...ignored];
    case 500:
      return ['X-Request-Id', ...ignored];
    default:
      return ['X-Request-Id', ...RATE_LIMIT, ...ignored];
  }
}
