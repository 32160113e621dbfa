import { showPayment } from '../../operator/show-payment';
import { snakeCaseKeys } from '../../snake-case';
import type { OperatorEndpoint } from '../endpoint';
import { paymentInPath, mapErrors } from './operator-request';

/** `GET /operator/payments/:id`: all that PostgreSQL and its workflow say of a payment of any merchant. */
export const inspectPayment: OperatorEndpoint = async ({ db, workflows }, request) => {
  const queryStatus = (paymentId: string) => workflows.queryStatus(paymentId);
  const details = await mapErrors('not_found', () => showPayment(db, queryStatus, paymentInPath(request)));
  return { status: 200, body: snakeCaseKeys(details) };
};
