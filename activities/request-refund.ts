import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { refundKeyOf } from '../src/domain/refund';
import { requestRefund as recordRequested } from '../src/db/transitions/request-refund';
import type { ActivityDependencies } from './dependencies';
import { toStepResult, toTransitionInput } from './transition-input';

/** Opens a refund and holds it back: nothing goes to the provider before the hold is over. */
export async function requestRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const number = (request.state.refund?.number ?? 0) + 1;
  const refundKey = refundKeyOf(request.terms.referenceId, number);
  const holdSeconds = dependencies.refundHoldSeconds;
  return toStepResult(
    await recordRequested(dependencies, toTransitionInput(request), { number, refundKey, holdSeconds }),
  );
}
