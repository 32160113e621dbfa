import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { cancelPayment as recordCancelled } from '../src/db/transitions/cancel-payment';
import type { ActivityDependencies } from './dependencies';
import { endOrder } from './end-order';

/** Has the provider cancel the order of a payment that waits for its customer. */
export function cancelPayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  return endOrder(dependencies, request, 'cancelPayment', recordCancelled);
}
