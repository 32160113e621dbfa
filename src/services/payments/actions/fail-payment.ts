import { Operation } from '../../operations/operation';
import { operatorAction } from './operator-action';

/** Fails a payment that no rule can close. */
export const failPayment = new Operation({ name: 'payment.fail', operator: 'fail', ...operatorAction('fail') });
