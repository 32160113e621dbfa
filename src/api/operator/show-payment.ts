import * as operator from '../../operator/show-payment';
import { snakeCaseKeys } from '../../snake-case';
import { operatorEndpoint } from '../endpoint';
import { paymentInPath, mapErrors } from './operator-request';

/** What PostgreSQL and the workflow contain of a payment, of any merchant. */
export const showPayment = operatorEndpoint({
  method: 'get',
  path: '/operator/payments/:id',
  scope: 'read',
  async handler({ db, workflows }, request) {
    const queryStatus = (paymentId: string) => workflows.queryStatus(paymentId);
    const details = await mapErrors('not_found', () => operator.showPayment(db, queryStatus, paymentInPath(request)));
    return { status: 200, body: snakeCaseKeys(details) };
  },
});
