import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { requestRefund } from '../src/db/transitions/request-refund';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf } from '../src/domain/refund';
import { resultOf, stepOf } from './steps';

/**
 * The provider has refunded a paid payment that we did not ask it to refund (the merchant did it in the provider's own
 * dashboard, or PostgreSQL was restored to an earlier time). The refund is opened here too, so that the merchant is not
 * paid for it. The next steps find it confirmed.
 */
export async function recordProviderRefund(context: TransitionContext, request: PaymentStep): Promise<StepResult> {
  const round = (request.state.refund?.round ?? 0) + 1;
  const refund = { round, refundKey: refundKeyOf(request.terms.referenceId, round), holdSeconds: 0 };
  const by = { actor: 'provider', note: 'refunded at the provider, not by us' };
  return resultOf(await requestRefund(context, stepOf({ ...request, by }), refund));
}
