import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { type CheckedStep, checkSettlement, checkStep } from './check-step';
import type { ActivityDependencies } from './dependencies';
import * as payment from './payment';
import * as refund from './refund';
import { unchanged } from './step-result';

/** What a timer of a sandbox payment would do, before its time (`lunas trigger`). */
export function expireNow(dependencies: ActivityDependencies, request: CheckedStep): Promise<StepResult> {
  return rejectionInProduction(dependencies, request) ?? payment.expirePayment(dependencies, request);
}
expireNow.checked = checkStep(expireNow);

export function settleNow(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return rejectionInProduction(dependencies, request) ?? payment.settlePayment(dependencies, request);
}
settleNow.checked = checkSettlement(settleNow);

export function submitRefundNow(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return rejectionInProduction(dependencies, request) ?? refund.submitRefund(dependencies, request);
}
submitRefundNow.checked = checkStep(submitRefundNow);

function rejectionInProduction(
  dependencies: ActivityDependencies,
  request: StepInput,
): Promise<StepResult> | undefined {
  if (dependencies.environment !== 'production') return undefined;
  return unchanged(dependencies, request, { rejection: 'In production a timer has its time.' });
}
