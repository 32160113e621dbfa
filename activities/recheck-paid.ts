import { COVERED_BY } from '../src/domain/provider-status';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { closeNotifications, newestNotification } from '../src/db/notifications';
import type { ActivityDependencies } from './dependencies';
import { askAfterRefund } from './ask-after-refund';
import { recordProviderRefund } from './provider-refund';
import { unchanged } from './steps';

/** There is news of a paid payment: the provider may have refunded the customer without being asked by us. */
export async function recheckPaid(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms } = request;
  const heard = await newestNotification(dependencies.db, terms);
  const judged = await askAfterRefund(dependencies, request);
  switch (judged.verdict) {
    case 'refunded':
    case 'under_way':
      return recordProviderRefund(dependencies, request, judged.refundKey);
    case 'unclear': {
      const attention = `It is paid, and the provider is unclear now: ${judged.reason}.`;
      return unchanged(dependencies, request, { attention });
    }
    case 'none':
      await closeNotifications(dependencies.db, terms, heard, COVERED_BY.paid);
      return unchanged(dependencies, request);
  }
}
