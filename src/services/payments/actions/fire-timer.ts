import { Operation } from '../../operations/operation';
import { operatorAction } from './operator-action';

/* In a sandbox: what a timer of the payment would do, before its time. */

export const expireNow = new Operation({ name: 'sandbox.expire', operator: 'all', ...operatorAction('expireNow') });
export const settleNow = new Operation({ name: 'sandbox.settle', operator: 'all', ...operatorAction('settleNow') });
export const submitRefundNow = new Operation({
  name: 'sandbox.submit_refund',
  operator: 'all',
  ...operatorAction('submitRefundNow'),
});

/** The timers of a payment that a person fires in a sandbox. */
export const FIRE_TIMER = { expire: expireNow, settle: settleNow, 'submit-refund': submitRefundNow } as const;
