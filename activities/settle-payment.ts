import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { settlePayment as recordSettled } from '../src/db/transitions/settle-payment';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { resultOf, stepOf } from './steps';

/** Makes the net amount of a paid payment available to the merchant. */
export async function settlePayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  if (dependencies.isRecovering) return heldBack(dependencies, request);
  return resultOf(await recordSettled(dependencies, stepOf(request)));
}
