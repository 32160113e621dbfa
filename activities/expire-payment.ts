import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { expirePayment as recordExpired } from '../src/db/transitions/expire-payment';
import type { ActivityDependencies } from './dependencies';
import { endOrder } from './end-order';

/** Has the provider expire the order of a payment that nobody paid in time. */
export function expirePayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  return endOrder(dependencies, request, 'expirePayment', recordExpired);
}
