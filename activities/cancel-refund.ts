import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { cancelRefund as recordCancelled } from '../src/db/transitions/cancel-refund';
import type { ActivityDependencies } from './dependencies';
import { toStepResult, currentRefundNumber, toTransitionInput } from './transition-input';

/** Takes back a refund that is still held: the payment is `paid` again. */
export async function cancelRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return toStepResult(await recordCancelled(dependencies, toTransitionInput(request), currentRefundNumber(request)));
}
