import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { refundKeyOf } from '../src/domain/refund';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { fetchRefundStatus } from './fetch-refund-status';
import { isLostRetry, recordLostRetry } from './provider-refund';
import { toStepResult, currentRefundNumber, toTransitionInput } from './transition-input';

/** Opens another round of a refused refund, at an operator's word; one that went through after all is recorded instead. */
export async function retryRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { state, terms } = request;
  const refundStatus = await fetchRefundStatus(dependencies, request);
  switch (refundStatus.status) {
    case 'refunded': {
      if (isLostRetry(request, refundStatus.refundKey))
        return recordLostRetry(dependencies, request, refundStatus.refundKey);
      const { providerReference } = refundStatus;
      const refundNumber = currentRefundNumber(request);
      const input = { ...toTransitionInput(request), refundNumber, providerReference };
      return toStepResult(await transitionWriters.confirm_failed_refund(dependencies, input));
    }
    case 'indeterminate':
      return { state, rejection: `The provider has to be clear first: ${refundStatus.reason}.` };
    case 'pending':
    case 'none': {
      const refundNumber = currentRefundNumber(request) + 1;
      const refundKey = refundKeyOf(terms.referenceId, refundNumber);
      const input = { ...toTransitionInput(request), refundNumber, refundKey, holdSeconds: 0 };
      return toStepResult(await transitionWriters.retry_refund(dependencies, input));
    }
  }
}
