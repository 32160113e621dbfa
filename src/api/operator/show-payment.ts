import { snakeCaseKeys } from '../../lib/snake-case';
import * as operator from '../../services/payments/show-payment';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { mapErrors, paymentInPath } from './operator-request';

/** What PostgreSQL and the workflow contain of a payment, of any merchant. */
export const showPayment = operatorEndpoint({
  method: 'get',
  path: '/operator/payments/:id',
  scope: 'read',
  async handler({ db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>, request) {
    const readRun = (paymentId: string) => workflows.readRun(paymentId);
    const details = await mapErrors('not_found', () => operator.showPayment(db, readRun, paymentInPath(request)));
    return { status: 200, body: snakeCaseKeys(details) };
  },
});
