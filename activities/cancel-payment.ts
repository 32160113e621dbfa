import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { closeOrder } from './close-order';

/** Has the provider cancel the order of a payment that waits for its customer. */
export function cancelPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return closeOrder(dependencies, request, 'cancelPayment', transitionWriters.cancel);
}
