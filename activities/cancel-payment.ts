import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { cancelPayment as recordCancelled } from '../src/db/transitions/cancel-payment';
import type { ActivityDependencies } from './dependencies';
import { closeOrder } from './close-order';

/** Has the provider cancel the order of a payment that waits for its customer. */
export function cancelPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return closeOrder(dependencies, request, 'cancelPayment', recordCancelled);
}
