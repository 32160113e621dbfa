import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { refundKeyOf } from '../src/domain/refund';
import { confirmFailedRefund } from '../src/db/transitions/confirm-refund';
import { retryRefund as recordRetried } from '../src/db/transitions/request-refund';
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
      const confirmed = { number: currentRefundNumber(request), providerReference: refundStatus.providerReference };
      return toStepResult(await confirmFailedRefund(dependencies, toTransitionInput(request), confirmed));
    }
    case 'indeterminate':
      return { state, rejection: `The provider has to be clear first: ${refundStatus.reason}.` };
    case 'pending':
    case 'none': {
      const number = currentRefundNumber(request) + 1;
      const refund = { number, refundKey: refundKeyOf(terms.referenceId, number), holdSeconds: 0 };
      return toStepResult(await recordRetried(dependencies, toTransitionInput(request), refund));
    }
  }
}
