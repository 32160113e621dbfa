import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { toStepResult, toTransitionInput } from './transition-input';

/** Makes the net amount of a paid payment available to the merchant. */
export async function settlePayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  if (dependencies.isRecovering) return heldBack(dependencies, request);
  return toStepResult(await transitionWriters.settle(dependencies, toTransitionInput(request)));
}
