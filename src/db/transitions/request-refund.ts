import { applyTransition, type Step, type TransitionContext, type TransitionOutcome } from './apply-transition';
import { refundStatement } from './transition-sql';

/** A new round, with what the provider is going to know it by, and how long it is held back. */
export interface NewRefund {
  readonly round: number;
  readonly refundKey: string;
  readonly holdSeconds: number;
}

const NEW_REFUND = `
  insert into refunds (payment_id, round, refund_key, amount_rupiah, status, requested_at, submit_at)
  select id, $7, $8, total_rupiah, 'held', updated_at, $6::timestamptz + $9 * interval '1 second' from changed`;

const REQUEST = refundStatement('request_refund', NEW_REFUND);
const RETRY = refundStatement('retry_refund', NEW_REFUND);

/** The merchant wants the customer to have the money back: held back first, so that it can still be cancelled. */
export function requestRefund(context: TransitionContext, step: Step, refund: NewRefund): Promise<TransitionOutcome> {
  return applyTransition(context, 'request_refund', REQUEST, step, valuesOf(refund));
}

/** Another round after the provider refused one. */
export function retryRefund(context: TransitionContext, step: Step, refund: NewRefund): Promise<TransitionOutcome> {
  return applyTransition(context, 'retry_refund', RETRY, step, valuesOf(refund));
}

function valuesOf({ round, refundKey, holdSeconds }: NewRefund): readonly unknown[] {
  return [round, refundKey, holdSeconds];
}
