import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { settlePayment as recordSettled } from '../src/db/transitions/settle-payment';
import type { ActivityDependencies } from './dependencies';
import { stepResult } from './step-result';

/** Makes the net amount of a paid payment available to the merchant. */
export async function settlePayment(
  dependencies: ActivityDependencies,
  { terms, state, atMs }: PaymentStep,
): Promise<StepResult> {
  const step = { paymentId: terms.paymentId, version: state.version, at: new Date(atMs) };
  return stepResult(await recordSettled(dependencies, step));
}
