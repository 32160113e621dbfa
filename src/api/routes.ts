import { createPayment } from './create-payment/create-payment';
import type { MerchantEndpoint, PublicEndpoint } from './endpoint';
import { getPayment } from './get-payment/get-payment';
import { getQrisPicture } from './get-qris-picture/get-qris-picture';
import { getHealth, getReadiness } from './health/health';
import { receiveNotification } from './provider-notifications/receive-notification';

export type Route = { readonly method: 'get' | 'post'; readonly path: string } & (
  | { readonly access: 'merchant'; readonly endpoint: MerchantEndpoint }
  | { readonly access: 'public'; readonly endpoint: PublicEndpoint }
);

/** Every address that the API answers. */
export const ROUTES: readonly Route[] = [
  { method: 'post', path: '/payments', access: 'merchant', endpoint: createPayment },
  { method: 'get', path: '/payments/:id', access: 'merchant', endpoint: getPayment },
  { method: 'get', path: '/qris/:file', access: 'public', endpoint: getQrisPicture },
  { method: 'post', path: '/provider-notifications/:account', access: 'public', endpoint: receiveNotification },
  { method: 'get', path: '/healthz', access: 'public', endpoint: getHealth },
  { method: 'get', path: '/readyz', access: 'public', endpoint: getReadiness },
];
