import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { ActivityDependencies } from './dependencies';
import * as payment from './payment';
import * as refund from './refund';
import { keepState } from './step-result';
import { verifySettlement, verifyStep, type VerifiedStep } from './verify-terms';

/** What a timer of a sandbox payment would do, before its time (`lunas trigger`). */
export function expireNow(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  return rejectionInProduction(dependencies, request) ?? payment.expirePayment(dependencies, request);
}
expireNow.checked = verifyStep(expireNow);

export function settleNow(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return rejectionInProduction(dependencies, request) ?? payment.settlePayment(dependencies, request);
}
settleNow.checked = verifySettlement(settleNow);

export function submitRefundNow(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return rejectionInProduction(dependencies, request) ?? refund.submitRefund(dependencies, request);
}
submitRefundNow.checked = verifyStep(submitRefundNow);

function rejectionInProduction(
  dependencies: ActivityDependencies,
  request: StepInput,
): Promise<StepResult> | undefined {
  if (dependencies.environment !== 'production') return undefined;
  return keepState(dependencies, request, { rejection: 'In production a timer has its time.' });
}
