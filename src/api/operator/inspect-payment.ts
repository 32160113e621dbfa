import { showPayment } from '../../operator/show-payment';
import { snakeCased } from '../../operator/snake-cased';
import type { OperatorEndpoint } from '../endpoint';
import { paymentInPath, refusingAs } from './operator-request';

/** `GET /operator/payments/:id`: all that PostgreSQL and its workflow say of a payment of any merchant. */
export const inspectPayment: OperatorEndpoint = async ({ db, engine }, request) => {
  const askStatus = (paymentId: string) => engine.askStatus(paymentId);
  const details = await refusingAs('not_found', () => showPayment(db, askStatus, paymentInPath(request)));
  return { status: 200, body: snakeCased(details) };
};
