import { cancelPayment } from './payments/cancel-payment';
import { createPayment } from './payments/create-payment/create-payment';
import { getDocs, getDocsFile } from './docs/get-docs';
import type { MerchantEndpoint, OperatorEndpoint, PublicEndpoint } from './endpoint';
import { getPayment } from './payments/get-payment';
import { getQris } from './payments/get-qris';
import { getQrisImage } from './qris-images/get-qris-image';
import { getHealth, getReadiness } from './health/health';
import { listTransactions } from './payments/list-transactions/list-transactions';
import { getOpenapi } from './openapi/get-openapi';
import { OPERATOR_ROUTES } from './operator/operator-routes';
import { receiveNotification } from './provider-notifications/receive-notification';
import { refundPayment } from './payments/refund-payment';

/** A body is read only where one counts; elsewhere it may be anything. */
export type Route = { readonly method: 'get' | 'post'; readonly path: string; readonly readsBody?: true } & (
  | { readonly access: 'merchant'; readonly endpoint: MerchantEndpoint }
  | { readonly access: 'operator'; readonly endpoint: OperatorEndpoint }
  | { readonly access: 'public'; readonly endpoint: PublicEndpoint }
);

/** Every address that the API answers. */
export const ROUTES: readonly Route[] = [
  { method: 'post', path: '/payments', readsBody: true, access: 'merchant', endpoint: createPayment },
  { method: 'get', path: '/payments/:id', access: 'merchant', endpoint: getPayment },
  { method: 'post', path: '/payments/:id/cancel', access: 'merchant', endpoint: cancelPayment },
  { method: 'post', path: '/transactions/:id/cancel', access: 'merchant', endpoint: cancelPayment },
  { method: 'post', path: '/payments/:id/refund', access: 'merchant', endpoint: refundPayment },
  { method: 'get', path: '/payments/:id/qris', access: 'merchant', endpoint: getQris },
  { method: 'get', path: '/transactions', access: 'merchant', endpoint: listTransactions },
  ...OPERATOR_ROUTES,
  { method: 'get', path: '/qris/:file', access: 'public', endpoint: getQrisImage },
  {
    method: 'post',
    path: '/provider-notifications/:account',
    readsBody: true,
    access: 'public',
    endpoint: receiveNotification,
  },
  { method: 'get', path: '/openapi.json', access: 'public', endpoint: getOpenapi },
  { method: 'get', path: '/docs', access: 'public', endpoint: getDocs },
  { method: 'get', path: '/docs/:file', access: 'public', endpoint: getDocsFile },
  { method: 'get', path: '/healthz', access: 'public', endpoint: getHealth },
  { method: 'get', path: '/readyz', access: 'public', endpoint: getReadiness },
];
