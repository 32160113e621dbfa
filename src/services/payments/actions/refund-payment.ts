import { Operation } from '../../operations/operation';
import { memberAction } from './member-action';

/** Refunds the customer of a paid payment. */
export const refundPayment = new Operation({
  name: 'payment.refund',
  member: { area: 'payments', level: 'authorise' },
  operator: true,
  ...memberAction('refund'),
});
