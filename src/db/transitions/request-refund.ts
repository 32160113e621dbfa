import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { refundStatement } from './transition-sql';

/** A new round, with what the provider is going to know it by, and how long it is held back. */
export interface NewRefund {
  readonly number: number;
  readonly refundKey: string;
  readonly holdSeconds: number;
}

const NEW_REFUND = `
  insert into refunds (payment_id, number, refund_key, amount_rupiah, status, requested_at, submit_at)
  select id, $7, $8, total_rupiah, 'held', updated_at, $6::timestamptz + $9 * interval '1 second' from changed`;

const REQUEST = refundStatement('request_refund', NEW_REFUND);
const RETRY = refundStatement('retry_refund', NEW_REFUND);

/** The merchant wants the customer to have the money back: held back first, so that it can still be cancelled. */
export function requestRefund(
  context: TransitionContext,
  step: TransitionInput,
  refund: NewRefund,
): Promise<TransitionResult> {
  return applyTransition(context, 'request_refund', REQUEST, step, valuesOf(refund));
}

/** Another round after the provider refused one. */
export function retryRefund(
  context: TransitionContext,
  step: TransitionInput,
  refund: NewRefund,
): Promise<TransitionResult> {
  return applyTransition(context, 'retry_refund', RETRY, step, valuesOf(refund));
}

function valuesOf({ number, refundKey, holdSeconds }: NewRefund): readonly unknown[] {
  return [number, refundKey, holdSeconds];
}
