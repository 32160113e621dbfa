import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { refundKeyOf } from '../src/domain/refund';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { toStepResult, toTransitionInput } from './transition-input';

/** Opens a refund and holds it back: nothing goes to the provider before the hold is over. */
export async function requestRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const refundNumber = (request.state.refund?.number ?? 0) + 1;
  const refundKey = refundKeyOf(request.terms.referenceId, refundNumber);
  const holdSeconds = dependencies.refundHoldSeconds;
  return toStepResult(
    await transitionWriters.request_refund(dependencies, {
      ...toTransitionInput(request),
      refundNumber,
      refundKey,
      holdSeconds,
    }),
  );
}
