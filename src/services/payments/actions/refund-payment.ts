import { Operation } from '../../operations/operation';
import { memberAction } from './member-action';
import { approvedBy } from './operator-action';

/** Refunds the customer of a paid payment. One operator alone refunds what the rules allow. */
export const refundPayment = new Operation({
  name: 'payment.refund',
  member: { area: 'payments', level: 'authorise' },
  operator: 'refund',
  ...memberAction('refund'),
  ...approvedBy('request_refund'),
});
