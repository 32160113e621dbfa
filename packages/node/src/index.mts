// The ECMAScript module exports the values of the CommonJS module. So a class is the same for every importer, and
// `instanceof` holds in a program that loads both.
export {
  ApiKeyIpNotAllowedError,
  InvalidAmountError,
  InvalidApiKeyError,
  InvalidBulkSizeError,
  InvalidJsonError,
  InvalidParameterError,
  Lunas,
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
  webhooks,
} from './index.js';
export type * from './index.js';
