import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf } from '../src/domain/refund';
import { requestRefund as recordRequested } from '../src/db/transitions/request-refund';
import type { ActivityDependencies } from './dependencies';
import { resultOf, stepOf } from './steps';

/** Opens a refund and holds it back: nothing goes to the provider before the hold is over. */
export async function requestRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const round = (request.state.refund?.round ?? 0) + 1;
  const refundKey = refundKeyOf(request.terms.referenceId, round);
  const holdSeconds = dependencies.refundHoldSeconds;
  return resultOf(await recordRequested(dependencies, stepOf(request), { round, refundKey, holdSeconds }));
}
