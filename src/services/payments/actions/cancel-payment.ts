import { Operation } from '../../operations/operation';
import { memberAction } from './member-action';

/** Cancels a pending payment at the provider. An operator cancels a refund that is held by it, too. */
export const cancelPayment = new Operation({
  name: 'payment.cancel',
  member: { area: 'payments', level: 'manage' },
  operator: 'fail',
  ...memberAction('cancel', ({ status }) => (status === 'refund_processing' ? 'refund_in_progress' : null)),
});
