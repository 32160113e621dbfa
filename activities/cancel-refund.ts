import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { cancelRefund as recordCancelled } from '../src/db/transitions/cancel-refund';
import type { ActivityDependencies } from './dependencies';
import { resultOf, roundOf, stepOf } from './steps';

/** Takes back a refund that is still held: the payment is `paid` again. */
export async function cancelRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  return resultOf(await recordCancelled(dependencies, stepOf(request), roundOf(request)));
}
