import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { fetchRefundStatus } from './fetch-refund-status';
import { toStepResult, currentRefundNumber, toTransitionInput } from './transition-input';

/** An operator knows that the customer has the money back, by whatever way. */
export async function resolveRefundAsRefunded(
  dependencies: ActivityDependencies,
  request: StepInput,
): Promise<StepResult> {
  const input = { ...toTransitionInput(request), refundNumber: currentRefundNumber(request) };
  return toStepResult(await transitionWriters.resolve_refund_as_refunded(dependencies, input));
}

/** An operator gives a refused refund up. Only where the provider's status shows none, or the merchant would be paid too. */
export async function resolveRefundAsPaid(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const refundStatus = await fetchRefundStatus(dependencies, request);
  switch (refundStatus.status) {
    case 'none':
      return toStepResult(await transitionWriters.resolve_refund_as_paid(dependencies, toTransitionInput(request)));
    case 'indeterminate':
      return { state: request.state, rejection: `The provider has to be clear first: ${refundStatus.reason}.` };
    case 'refunded':
    case 'pending':
      return {
        state: request.state,
        rejection: 'The provider shows a refund, so it is not paid: resolve it as refunded.',
      };
  }
}
