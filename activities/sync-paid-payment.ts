import { COVERED_BY } from '../src/domain/provider-status';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { closeNotifications, newestNotification } from '../src/db/notification-inbox';
import type { ActivityDependencies } from './dependencies';
import { fetchRefundStatus } from './fetch-refund-status';
import { recordProviderRefund } from './provider-refund';
import { unchanged } from './transition-input';

/** There is news of a paid payment: the provider may have refunded the customer without being asked by us. */
export async function syncPaidPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { terms } = request;
  const latestNotificationId = await newestNotification(dependencies.db, terms);
  const refundStatus = await fetchRefundStatus(dependencies, request);
  switch (refundStatus.status) {
    case 'refunded':
    case 'pending':
      return recordProviderRefund(dependencies, request, refundStatus.refundKey);
    case 'indeterminate': {
      const attentionReason = `It is paid, and the provider is unclear now: ${refundStatus.reason}.`;
      return unchanged(dependencies, request, { attentionReason });
    }
    case 'none':
      await closeNotifications(dependencies.db, terms, latestNotificationId, COVERED_BY.paid);
      return unchanged(dependencies, request);
  }
}
