import { Operation } from '../../operations/operation';
import { operatorAction } from './operator-action';

/** Refunds the customer of a paid payment. */
export const refundPayment = new Operation({ name: 'payment.refund', ...operatorAction('refund') });
