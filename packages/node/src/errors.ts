/** The reasons of this version of the API (`X-Error-Reason`). */
export type KnownErrorReason =
  | 'body_not_json'
  | 'body_too_large'
  | 'body_too_late'
  | 'amount_invalid'
  | 'total_too_large'
  | 'payment_method_unknown'
  | 'payment_method_inactive'
  | 'field_invalid'
  | 'fee_reaches_amount'
  | 'return_url_not_allowed'
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'idempotency_key_archived'
  | 'provider_not_enabled'
  | 'provider_unavailable'
  | 'provider_rejected'
  | 'provider_cannot_cancel'
  | 'status_not_cancellable'
  | 'refund_submitted'
  | 'provider_cannot_refund'
  | 'status_not_refundable'
  | 'refund_limit'
  | 'refund_not_whole'
  | 'key_missing'
  | 'key_not_bearer'
  | 'key_of_other_environment'
  | 'key_unknown'
  | 'merchant_pending'
  | 'merchant_suspended'
  | 'path_unknown'
  | 'method_unknown'
  | 'payment_unknown'
  | 'payment_link_unknown'
  | 'payment_archived'
  | 'qr_unavailable'
  | 'key_rate'
  | 'merchant_rate'
  | 'network_rate'
  | 'failed_keys'
  | 'creates_in_flight'
  | 'connections_open'
  | 'streams_open';

/** A later version of the API may have more. */
export type ErrorReason = KnownErrorReason | (string & Record<never, never>);

interface ErrorDetails {
  readonly status?: number;
  readonly reason?: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** Every error that this package throws, except for wrong arguments (`TypeError`) and the reason of an abort. */
export class LunasError extends Error {
  /** A code of the API, or of this package if there is no response of the API. Decide by this, not by the message. */
  readonly code: string;
  /** `X-Error-Reason` of the response: which of the mistakes of the code it is. Null: the code needs none. */
  readonly reason: ErrorReason | null;
  /** The status of the response; null without one. */
  readonly status: number | null;
  /** For support. A request without a response has one too, because the client chooses it. Null for webhooks. */
  readonly requestId: string | null;
  /** What the response requires before the next attempt; null if it requires nothing. */
  readonly retryAfterSeconds: number | null;
  /** HTTP requests that the call made before this error. */
  attempts = 1;

  constructor(
    code: string,
    message: string,
    { status, reason, requestId, retryAfterSeconds, cause }: ErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.reason = reason ?? null;
    this.status = status ?? null;
    this.requestId = requestId ?? null;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
  }
}

/** No complete response, after all attempts. The API may have executed the request. */
export class LunasConnectionError extends LunasError {
  constructor(message: string, details: ErrorDetails, code = 'connection_failed') {
    super(code, message, details);
  }
}

/** No complete response within `timeoutMs`, after all attempts. The API may have executed the request. */
export class LunasTimeoutError extends LunasConnectionError {
  constructor(message: string, details: ErrorDetails) {
    super(message, details, 'timeout');
  }
}

/** A response that is not one of the API, for example of a proxy. The API may have executed the request. */
export class UnexpectedResponseError extends LunasError {
  constructor(message: string, details: ErrorDetails) {
    super('unexpected_response', message, details);
  }
}

/** A webhook that the holder of the secret did not sign, or not recently. Respond with 401, and do nothing. */
export class WebhookVerificationError extends LunasError {
  constructor(message: string) {
    super('webhook_not_verified', message);
  }
}

/** An error response of the API. Each code has a class of its own. */
export class LunasApiError extends LunasError {}

/** The body is not valid JSON. */
export class InvalidJsonError extends LunasApiError {}
/** `amount` is not a positive integer, or too large. */
export class InvalidAmountError extends LunasApiError {}
/** A bulk has no item or more than 50. */
export class InvalidBulkSizeError extends LunasApiError {}
/** The payment method is not `qris`. */
export class UnsupportedPaymentMethodError extends LunasApiError {}
/** The payment could not be created: a field is wrong, its key belongs to another payment, or the provider rejected. */
export class PaymentCreateFailedError extends LunasApiError {}
/** The payment cannot be cancelled from its current status. */
export class PaymentCancelFailedError extends LunasApiError {}
/** The payment cannot be refunded from its current status. */
export class PaymentRefundFailedError extends LunasApiError {}
/** The secret key is missing, wrong, expired or revoked. */
export class InvalidApiKeyError extends LunasApiError {}
/** The merchant is not active. */
export class MerchantNotApprovedError extends LunasApiError {}
/** The key does not allow this address. */
export class ApiKeyIpNotAllowedError extends LunasApiError {}
/** A filter of the list is wrong. */
export class InvalidParameterError extends LunasApiError {}
/** The key does not have the scope of the call. */
export class ScopeNotAllowedError extends LunasApiError {}
/** There is no such payment. */
export class NotFoundError extends LunasApiError {}
/** Too many requests; `retryAfterSeconds` has the time to wait. */
export class RateLimitedError extends LunasApiError {}
/** The API could not process the request. */
export class ServerError extends LunasApiError {}

const API_ERROR_CLASSES = {
  invalid_json: InvalidJsonError,
  invalid_parameter: InvalidParameterError,
  invalid_amount: InvalidAmountError,
  invalid_bulk_size: InvalidBulkSizeError,
  unsupported_payment_method: UnsupportedPaymentMethodError,
  payment_create_failed: PaymentCreateFailedError,
  payment_cancel_failed: PaymentCancelFailedError,
  payment_refund_failed: PaymentRefundFailedError,
  invalid_api_key: InvalidApiKeyError,
  merchant_not_approved: MerchantNotApprovedError,
  api_key_ip_not_allowed: ApiKeyIpNotAllowedError,
  scope_not_allowed: ScopeNotAllowedError,
  not_found: NotFoundError,
  rate_limited: RateLimitedError,
  server_error: ServerError,
};

/** The closed list of the API's error codes. */
export type ApiErrorCode = keyof typeof API_ERROR_CLASSES;

const isApiErrorCode = (code: string): code is ApiErrorCode => Object.hasOwn(API_ERROR_CLASSES, code);

/** The error of a response that is not a success. */
export function toResponseError(text: string, details: ErrorDetails): LunasError {
  const { code, message } = parseErrorBody(text);
  if (code === undefined || message === undefined) {
    return new UnexpectedResponseError(`The response has status ${details.status ?? 0} and is not of Lunas.`, details);
  }
  if (!isApiErrorCode(code)) return new LunasApiError(code, message, details);
  return new API_ERROR_CLASSES[code](code, message, details);
}

function parseErrorBody(text: string): { readonly code?: string; readonly message?: string } {
  try {
    const body: { error?: { code?: unknown; message?: unknown } } | null = JSON.parse(text);
    const { code, message } = body?.error ?? {};
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : {};
  } catch {
    return {};
  }
}

const TOO_MANY_REQUESTS = 429;
const RETRIED_STATUSES = new Set([408, TOO_MANY_REQUESTS]);

/** Whether a repeat of the same request may succeed. */
export function isRetryable(error: LunasError): boolean {
  if (error instanceof LunasConnectionError) return true;
  const status = error.status ?? 0;
  if (status >= 500 || RETRIED_STATUSES.has(status)) return true;
  // A success that cannot be read.
  return error instanceof UnexpectedResponseError && status >= 200 && status < 300;
}

/** Whether the API may have executed the request, although no response confirms it. */
export function mayBeExecuted(error: LunasError): boolean {
  return isRetryable(error) && error.status !== TOO_MANY_REQUESTS;
}
