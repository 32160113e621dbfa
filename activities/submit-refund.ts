import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { submitRefund as recordSubmitted } from '../src/db/transitions/submit-refund';
import { askAfterRefund } from './ask-after-refund';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { resultOf, roundOf, stepOf } from './steps';

/** The hold is over: writes that the refund goes to the provider, before it goes. */
export async function submitRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  if (dependencies.isRecovering && !(await isAtProvider(dependencies, request))) return heldBack(dependencies, request);
  return resultOf(await recordSubmitted(dependencies, stepOf(request), roundOf(request)));
}

/** The provider has a refund already: recording it moves no money. */
async function isAtProvider(dependencies: ActivityDependencies, request: PaymentStep): Promise<boolean> {
  const { verdict } = await askAfterRefund(dependencies, request);
  return verdict === 'refunded' || verdict === 'under_way';
}
