import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { submitRefund as recordSubmitted } from '../src/db/transitions/submit-refund';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { resultOf, roundOf, stepOf } from './steps';

/** The hold is over: writes that the refund goes to the provider, before it goes. */
export async function submitRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  if (dependencies.isRecovering) return heldBack(dependencies, request);
  return resultOf(await recordSubmitted(dependencies, stepOf(request), roundOf(request)));
}
