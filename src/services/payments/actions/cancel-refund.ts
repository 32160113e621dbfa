import { Operation } from '../../operations/operation';
import { memberAction } from './member-action';

/** Cancels a refund that is held: the payment is paid again. */
export const cancelRefund = new Operation({
  name: 'payment.cancel_refund',
  member: { area: 'payments', level: 'authorise' },
  ...memberAction('cancel', ({ status }) => (status === 'refund_processing' ? null : 'other_status')),
});
