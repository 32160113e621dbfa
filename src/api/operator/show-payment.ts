import * as operator from '../../services/payments/show-payment';
import { snakeCaseKeys } from '../../lib/snake-case';
import { operatorEndpoint } from '../endpoint';
import { paymentInPath, mapErrors } from './operator-request';
import type { ApiDependencies } from '../dependencies';

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
