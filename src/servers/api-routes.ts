import type { MerchantEndpoint, MerchantStream, OperatorEndpoint } from '../api/endpoint';
import { buildDocument } from '../api/openapi/document';
import { getOpenapi } from '../api/openapi/get-openapi';
import { listExceptions, resolveExceptionByOperator } from '../api/operator/exceptions';
import { listActions } from '../api/operator/list-actions';
import { holdByOperator, releaseByOperator } from '../api/operator/merchant-hold';
import {
  cancelByOperator,
  failByOperator,
  refundByOperator,
  resolveRefund,
  retryRefundByOperator,
  settleByOperator,
} from '../api/operator/payment-actions';
import {
  approvePayoutByOperator,
  cancelPayoutByOperator,
  resendPayoutByOperator,
  resolvePayoutByOperator,
} from '../api/operator/payout-actions';
import { listPayouts, showPayout, startPayoutsByOperator, stopPayoutsByOperator } from '../api/operator/payouts';
import { redeliverWebhook } from '../api/operator/redeliver-webhook';
import { showPayment } from '../api/operator/show-payment';
import { closePaymentLink } from '../api/payment-links/close-link';
import { createPaymentLink } from '../api/payment-links/create-link';
import { getPaymentLink } from '../api/payment-links/get-link';
import { listPaymentLinks } from '../api/payment-links/list-links';
import { cancelByMerchant, cancelTransaction } from '../api/payments/cancel-payment';
import { createPayment } from '../api/payments/create-payment/create-payment';
import { getPayment } from '../api/payments/get-payment';
import { getQris } from '../api/payments/get-qris';
import { listTransactions } from '../api/payments/list-transactions/list-transactions';
import { refundByMerchant } from '../api/payments/refund-payment';
import { receiveNotification } from '../api/provider-notifications/receive-notification';
import { getQrisImage } from '../api/qris-images/get-qris-image';
import { streamWebhooks } from '../api/webhook-stream/stream-webhooks';
import type { PublicEndpoint } from '../http/endpoint';
import { getCheckoutFile } from '../web/checkout/get-checkout-file';
import { getCheckoutImage } from '../web/checkout/get-checkout-image';
import { getCheckoutLogo } from '../web/checkout/get-checkout-logo';
import { getCheckoutPage } from '../web/checkout/get-checkout-page';
import { getCheckoutReceipt } from '../web/checkout/get-checkout-receipt';
import { getSandboxCheckout } from '../web/checkout/get-sandbox-checkout';
import { getLinkPage, openLinkPage } from '../web/checkout/link/open-link-page';
import { streamCheckout } from '../web/checkout/stream-checkout';
import { getDocs, getDocsFile, getRoot } from '../web/docs/get-docs';
import { getLlmsTxt } from '../web/docs/get-llms-txt';
import type { ApiServerDependencies } from './api-dependencies';
import { getHealth, getReadiness } from './health';

export type Endpoint = PublicEndpoint<ApiServerDependencies> | OperatorEndpoint | MerchantEndpoint | MerchantStream;

/** The API for merchants, in the order of the documentation. */
export const MERCHANT_ENDPOINTS: readonly MerchantEndpoint[] = [
  createPayment,
  getPayment,
  getQris,
  cancelByMerchant,
  cancelTransaction,
  refundByMerchant,
  listTransactions,
  createPaymentLink,
  getPaymentLink,
  closePaymentLink,
  listPaymentLinks,
];

/** The listener of the operators has these and nothing else. */
export const OPERATOR_ENDPOINTS: readonly OperatorEndpoint[] = [
  showPayment,
  settleByOperator,
  failByOperator,
  cancelByOperator,
  refundByOperator,
  retryRefundByOperator,
  resolveRefund,
  holdByOperator,
  releaseByOperator,
  listExceptions,
  resolveExceptionByOperator,
  redeliverWebhook,
  listActions,
  listPayouts,
  showPayout,
  approvePayoutByOperator,
  cancelPayoutByOperator,
  resendPayoutByOperator,
  resolvePayoutByOperator,
  stopPayoutsByOperator,
  startPayoutsByOperator,
];

/** The contract (docs/contract.md) as OpenAPI 3.1. */
const OPENAPI_DOCUMENT = JSON.stringify(buildDocument(MERCHANT_ENDPOINTS));

/** The public listener: merchants, customers and providers reach it. */
export const PUBLIC_ROUTES: readonly Endpoint[] = [
  ...MERCHANT_ENDPOINTS,
  streamWebhooks,
  getQrisImage,
  getCheckoutPage,
  streamCheckout,
  getCheckoutImage,
  getCheckoutReceipt,
  getSandboxCheckout,
  getLinkPage,
  openLinkPage,
  getCheckoutFile,
  getCheckoutLogo,
  receiveNotification,
  getOpenapi(OPENAPI_DOCUMENT),
  getRoot,
  ...getDocs(OPENAPI_DOCUMENT),
  getDocsFile,
  getLlmsTxt,
  getHealth,
  getReadiness,
];

/** Every endpoint of both listeners. */
export const ROUTES: readonly Endpoint[] = [...PUBLIC_ROUTES, ...OPERATOR_ENDPOINTS];
