import { Operation } from '../../operations/operation';
import { operatorAction } from './operator-action';

/** Retries a rejected refund under a new key. */
export const retryRefund = new Operation({
  name: 'refund.retry',
  operator: 'refund',
  ...operatorAction('retryRefund'),
});
