import type { OperatorEndpoint } from '../endpoint';
import { failPayment, resolveRefund, retryRefund, settlePayment } from './payment-actions';
import { listCases, resolveCase } from './exceptions';
import { inspectPayment } from './show-payment';
import { listAudit } from './list-actions';
import { redeliverWebhook } from './redeliver-webhook';

interface OperatorRoute {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly readsBody?: true;
  readonly access: 'operator';
  readonly endpoint: OperatorEndpoint;
}

const get = (path: string, endpoint: OperatorEndpoint): OperatorRoute => ({
  method: 'get',
  path,
  access: 'operator',
  endpoint,
});

const post = (path: string, endpoint: OperatorEndpoint): OperatorRoute => ({
  method: 'post',
  path,
  readsBody: true,
  access: 'operator',
  endpoint,
});

/** The operator API (docs/operators.md); merchants neither reach it nor read of it. */
export const OPERATOR_ROUTES: readonly OperatorRoute[] = [
  get('/operator/payments/:id', inspectPayment),
  post('/operator/payments/:id/settle', settlePayment),
  post('/operator/payments/:id/fail', failPayment),
  post('/operator/payments/:id/refund/retry', retryRefund),
  post('/operator/payments/:id/refund/resolve', resolveRefund),
  get('/operator/exceptions', listCases),
  post('/operator/exceptions/:id/resolve', resolveCase),
  post('/operator/deliveries/:id/redeliver', redeliverWebhook),
  get('/operator/actions', listAudit),
];
