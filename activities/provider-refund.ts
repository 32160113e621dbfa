import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { requestRefund, retryRefund } from '../src/db/transitions/request-refund';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf, roundOfKey } from '../src/domain/refund';
import { resultOf, stepOf } from './steps';

const BY = { actor: 'provider', note: 'the provider has a refund that was not recorded' };

/**
 * The provider has refunded a paid payment that has no refund in PostgreSQL (the merchant did it in the provider's own
 * dashboard, or PostgreSQL was restored to an earlier time). The refund is opened here too, so that the merchant is not
 * paid for it. The next steps find it confirmed.
 * @param refundKey that of the provider; a refund of ours keeps its round
 */
export async function recordProviderRefund(
  context: TransitionContext,
  request: PaymentStep,
  refundKey: string | null,
): Promise<StepResult> {
  const refund = refundAfter(request, refundKey);
  return resultOf(await requestRefund(context, stepOf({ ...request, by: BY }), refund));
}

/** Whether the provider has a later round than PostgreSQL, whose last refund was rejected: a retry of ours was lost. */
export function isLostRetry({ terms, state }: PaymentStep, refundKey: string | null): boolean {
  return roundOfKey(terms.referenceId, refundKey) > (state.refund?.round ?? 0);
}

/** Opens the retry that was lost. The next steps find it confirmed. */
export async function recordLostRetry(
  context: TransitionContext,
  request: PaymentStep,
  refundKey: string | null,
): Promise<StepResult> {
  const refund = refundAfter(request, refundKey);
  return resultOf(await retryRefund(context, stepOf({ ...request, by: BY }), refund));
}

function refundAfter({ terms, state }: PaymentStep, providerKey: string | null) {
  const next = (state.refund?.round ?? 0) + 1;
  const round = Math.max(next, roundOfKey(terms.referenceId, providerKey));
  return { round, refundKey: refundKeyOf(terms.referenceId, round), holdSeconds: 0 };
}
