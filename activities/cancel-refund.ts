import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { toStepResult, currentRefundNumber, toTransitionInput } from './transition-input';

/** Takes back a refund that is still held: the payment is `paid` again. */
export async function cancelRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const refundNumber = currentRefundNumber(request);
  return toStepResult(
    await transitionWriters.cancel_refund(dependencies, { ...toTransitionInput(request), refundNumber }),
  );
}
