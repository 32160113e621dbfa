import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { refundKeyOf, refundNumberOfKey } from '../src/domain/refund';
import { toStepResult, toTransitionInput } from './transition-input';

const BY = { name: 'provider', note: 'the provider has a refund that was not recorded' };

/**
 * The provider has refunded a paid payment that has no refund in PostgreSQL (the merchant did it in the provider's own
 * dashboard, or PostgreSQL was restored to an earlier time). The refund is opened here too, so that the merchant is not
 * paid for it. The next steps find it confirmed.
 * @param refundKey that of the provider; a refund of ours keeps its number
 */
export async function recordProviderRefund(
  context: TransitionContext,
  request: StepInput,
  refundKey: string | null,
): Promise<StepResult> {
  const refund = refundAfter(request, refundKey);
  return toStepResult(
    await transitionWriters.request_refund(context, { ...toTransitionInput({ ...request, by: BY }), ...refund }),
  );
}

/** Whether the provider has a later refund than PostgreSQL, whose last refund was rejected: a retry of ours was lost. */
export function isLostRetry({ terms, state }: StepInput, refundKey: string | null): boolean {
  return refundNumberOfKey(terms.referenceId, refundKey) > (state.refund?.number ?? 0);
}

/** Opens the retry that was lost. The next steps find it confirmed. */
export async function recordLostRetry(
  context: TransitionContext,
  request: StepInput,
  refundKey: string | null,
): Promise<StepResult> {
  const refund = refundAfter(request, refundKey);
  return toStepResult(
    await transitionWriters.retry_refund(context, { ...toTransitionInput({ ...request, by: BY }), ...refund }),
  );
}

function refundAfter({ terms, state }: StepInput, providerKey: string | null) {
  const next = (state.refund?.number ?? 0) + 1;
  const refundNumber = Math.max(next, refundNumberOfKey(terms.referenceId, providerKey));
  return { refundNumber, refundKey: refundKeyOf(terms.referenceId, refundNumber), holdSeconds: 0 };
}
