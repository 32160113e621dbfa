export { Lunas, type LunasOptions } from './client';
export {
  ApiKeyIpNotAllowedError,
  type ApiErrorCode,
  InvalidAmountError,
  InvalidApiKeyError,
  InvalidBulkSizeError,
  InvalidJsonError,
  InvalidParameterError,
  LunasApiError,
  LunasConnectionError,
  LunasError,
  LunasTimeoutError,
  MerchantNotApprovedError,
  NotFoundError,
  PaymentCancelFailedError,
  PaymentCreateFailedError,
  PaymentRefundFailedError,
  RateLimitedError,
  ScopeNotAllowedError,
  ServerError,
  UnexpectedResponseError,
  UnsupportedPaymentMethodError,
  WebhookVerificationError,
} from './errors';
export type { BulkOptions, CreateOptions, Payments } from './payments';
export type { RequestOptions } from './http';
export type { Transactions } from './transactions';
export { webhooks, type SignOptions, type VerifyOptions, type WebhookHeaders } from './webhooks';
export type {
  BulkItem,
  BulkItemRequest,
  CancelledPayment,
  CreatedPayment,
  CreatePaymentRequest,
  Customer,
  ListFilter,
  Metadata,
  PaymentDetail,
  PaymentEvent,
  PaymentStatus,
  PaymentSummary,
  PingEvent,
  Provider,
  Qris,
  Transaction,
  WebhookEvent,
} from './types';
