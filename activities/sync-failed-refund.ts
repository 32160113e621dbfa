import { COVERED_BY } from '../src/domain/provider-status';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { closeNotifications, newestNotification } from '../src/db/notification-inbox';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { fetchRefundStatus } from './fetch-refund-status';
import { isLostRetry, recordLostRetry } from './provider-refund';
import { toStepResult, currentRefundNumber, toTransitionInput, unchanged } from './transition-input';

/** There is news of a payment whose refund was refused: records a refund that went through after all. */
export async function syncFailedRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { terms } = request;
  const latestNotificationId = await newestNotification(dependencies.db, terms);
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
    case 'pending': {
      const attentionReason = 'The provider refused the refund, and has one under way all the same.';
      return unchanged(dependencies, request, { attentionReason });
    }
    case 'indeterminate': {
      const attentionReason = `The provider refused the refund, and is unclear now: ${refundStatus.reason}.`;
      return unchanged(dependencies, request, { attentionReason });
    }
    case 'none':
      await closeNotifications(dependencies.db, terms, latestNotificationId, COVERED_BY.paid);
      return unchanged(dependencies, request);
  }
}
