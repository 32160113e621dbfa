/** THE closed table of docs/contract.md#errors. `message` is the default. */
export const API_ERRORS = {
  invalid_json: { httpStatus: 400, message: 'The body is not valid JSON.' },
  invalid_parameter: { httpStatus: 400, message: 'A parameter of the query, or a field of a link, is not valid.' },
  invalid_amount: { httpStatus: 400, message: 'amount must be an integer greater than 0.' },
  invalid_bulk_size: { httpStatus: 400, message: 'payments must hold 1 to 50 items.' },
  unsupported_payment_method: { httpStatus: 400, message: 'The payment method is not supported; use qris.' },
  payment_create_failed: { httpStatus: 400, message: 'The transaction could not be created.' },
  payment_cancel_failed: { httpStatus: 400, message: 'The transaction cannot be cancelled from its current status.' },
  payment_refund_failed: { httpStatus: 400, message: 'The transaction cannot be refunded from its current status.' },
  invalid_api_key: { httpStatus: 401, message: 'The secret key is missing, invalid or revoked.' },
  merchant_not_approved: { httpStatus: 403, message: 'The merchant is not active.' },
  api_key_ip_not_allowed: { httpStatus: 403, message: "The request's address is not in the key's allowlist." },
  scope_not_allowed: { httpStatus: 403, message: 'The key does not have the scope of this request.' },
  not_found: { httpStatus: 404, message: 'Not found.' },
  rate_limited: { httpStatus: 429, message: 'Too many requests; try again after the time in Retry-After.' },
  server_error: { httpStatus: 500, message: 'The request could not be processed; try again later.' },
} as const satisfies Record<string, { httpStatus: number; message: string }>;

export type ApiErrorCode = keyof typeof API_ERRORS;

/**
 * THE closed table of reasons, for the header `X-Error-Reason` (docs/contract.md#errors). A code that stands for
 * several mistakes has a reason for each of them. A code without one here needs none. `POST /payment-links` has the
 * code `invalid_parameter` for the reasons that it shares with `POST /payments`.
 */
export const ERROR_REASONS = {
  body_not_json: { code: 'invalid_json', meaning: 'The body is not JSON, or JSON that two parsers read differently.' },
  body_too_large: { code: 'invalid_json', meaning: 'The body is larger than its limit.' },
  body_too_late: { code: 'invalid_json', meaning: 'The body did not arrive within 10 s.' },
  amount_invalid: { code: 'invalid_amount', meaning: '`amount` is missing, no integer, or out of bounds.' },
  total_too_large: { code: 'invalid_amount', meaning: 'The amount with the fee exceeds the limit of QRIS.' },
  payment_method_unknown: { code: 'unsupported_payment_method', meaning: 'The payment method is not `qris`.' },
  payment_method_inactive: { code: 'unsupported_payment_method', meaning: '`qris` is not active for the merchant.' },
  field_invalid: { code: 'payment_create_failed', meaning: 'A field violates its rule. The message names both.' },
  fee_reaches_amount: {
    code: 'payment_create_failed',
    meaning: 'The merchant pays a fee that is as high as the amount.',
  },
  return_url_not_allowed: {
    code: 'payment_create_failed',
    meaning: '`return_url` is not at a registered address of the shop.',
  },
  idempotency_key_invalid: {
    code: 'payment_create_failed',
    meaning: 'The key is not 1 to 255 printable ASCII characters.',
  },
  idempotency_key_reused: {
    code: 'payment_create_failed',
    meaning: 'The key belongs to a payment with other contents, or another item of the bulk has it. Use a new key.',
  },
  idempotency_key_archived: {
    code: 'payment_create_failed',
    meaning: 'The key belongs to a payment that is archived. Use a new key.',
  },
  provider_not_enabled: { code: 'payment_create_failed', meaning: 'The provider is not enabled for the merchant.' },
  provider_unavailable: { code: 'payment_create_failed', meaning: 'No account of the provider is in use at present.' },
  provider_rejected: {
    code: 'payment_create_failed',
    meaning: 'The provider issued no QR. The payment is `failed`. Use a new key for the next attempt.',
  },
  provider_cannot_cancel: { code: 'payment_cancel_failed', meaning: 'The provider has no cancellation.' },
  status_not_cancellable: { code: 'payment_cancel_failed', meaning: 'The status does not allow it.' },
  refund_submitted: {
    code: 'payment_cancel_failed',
    meaning: 'The refund is with the provider and can no longer be cancelled.',
  },
  provider_cannot_refund: { code: 'payment_refund_failed', meaning: 'The provider has no refunds.' },
  status_not_refundable: { code: 'payment_refund_failed', meaning: 'The status does not allow it.' },
  refund_limit: { code: 'payment_refund_failed', meaning: 'There were as many refunds as there can be.' },
  refund_not_whole: {
    code: 'payment_refund_failed',
    meaning: 'The request has a body. A refund is always for the whole amount.',
  },
  key_missing: { code: 'invalid_api_key', meaning: 'There is no `Authorization` header.' },
  key_not_bearer: { code: 'invalid_api_key', meaning: 'The header is not `Bearer` and a key.' },
  key_of_other_environment: {
    code: 'invalid_api_key',
    meaning: 'A live key at the sandbox, or a test key in production.',
  },
  key_unknown: { code: 'invalid_api_key', meaning: 'The key is mistyped, unknown, expired or revoked.' },
  merchant_pending: { code: 'merchant_not_approved', meaning: 'The merchant is not approved yet.' },
  merchant_suspended: { code: 'merchant_not_approved', meaning: 'The merchant is suspended.' },
  path_unknown: { code: 'not_found', meaning: 'There is no such address.' },
  method_unknown: { code: 'not_found', meaning: 'The address exists. `Allow` has the methods that it takes.' },
  payment_unknown: { code: 'not_found', meaning: 'The merchant has no such transaction.' },
  payment_link_unknown: { code: 'not_found', meaning: 'The merchant has no such payment link.' },
  payment_archived: { code: 'not_found', meaning: 'The transaction is archived.' },
  qr_unavailable: { code: 'not_found', meaning: 'The provider has not issued a QR for it, or has rejected it.' },
  key_rate: { code: 'rate_limited', meaning: 'The key has used its requests of this minute.' },
  merchant_rate: { code: 'rate_limited', meaning: 'All keys of the merchant have used its requests of this minute.' },
  network_rate: { code: 'rate_limited', meaning: 'Too many requests without a key came from the network.' },
  failed_keys: { code: 'rate_limited', meaning: 'Too many requests without a valid key came from the address.' },
  creates_in_flight: { code: 'rate_limited', meaning: 'Too many creations of the merchant are in flight.' },
  connections_open: { code: 'rate_limited', meaning: 'The network has too many open connections.' },
  streams_open: { code: 'rate_limited', meaning: 'Too many event streams are open.' },
} as const satisfies Record<string, { code: ApiErrorCode; meaning: string }>;

export type ErrorReason = keyof typeof ERROR_REASONS;

export const isErrorReason = (name: ApiErrorCode | ErrorReason): name is ErrorReason => name in ERROR_REASONS;
