import { Operation } from '../../operations/operation';
import { operatorAction } from './operator-action';

/** Cancels a pending payment at the provider, or a refund that is held. */
export const cancelPayment = new Operation({ name: 'payment.cancel', ...operatorAction('cancel') });
