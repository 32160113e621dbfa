import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { closeOrder } from './close-order';

/** Has the provider expire the order of a payment that nobody paid in time. */
export function expirePayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return closeOrder(dependencies, request, 'expirePayment', transitionWriters.expire);
}
