import { Operation } from '../../operations/operation';
import { approvedBy, operatorAction } from './operator-action';

/** Closes a rejected refund: the customer has the money by another way. */
export const resolveRefundAsRefunded = new Operation({
  name: 'refund.resolve_as_refunded',
  operator: 'resolve',
  ...operatorAction('resolveRefundAsRefunded'),
  ...approvedBy('resolve_refund_as_refunded'),
});

/** Closes a rejected refund: the merchant keeps the money. */
export const resolveRefundAsPaid = new Operation({
  name: 'refund.resolve_as_paid',
  operator: 'resolve',
  ...operatorAction('resolveRefundAsPaid'),
  ...approvedBy('resolve_refund_as_paid'),
});

/** The operation of each resolution. */
export const RESOLVE_REFUND = { refunded: resolveRefundAsRefunded, paid: resolveRefundAsPaid } as const;
