import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { fetchRefundStatus } from './fetch-refund-status';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { toStepResult, currentRefundNumber, toTransitionInput } from './transition-input';

/** The hold is over: writes that the refund goes to the provider, before it goes. */
export async function submitRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  if (dependencies.isRecovering && !(await isAtProvider(dependencies, request))) return heldBack(dependencies, request);
  const input = { ...toTransitionInput(request), refundNumber: currentRefundNumber(request) };
  return toStepResult(await transitionWriters.submit_refund(dependencies, input));
}

/** The provider has a refund already: recording it moves no money. */
async function isAtProvider(dependencies: ActivityDependencies, request: StepInput): Promise<boolean> {
  const { status: verdict } = await fetchRefundStatus(dependencies, request);
  return verdict === 'refunded' || verdict === 'pending';
}
