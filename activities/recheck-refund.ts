import { COVERED_BY } from '../src/domain/provider-status';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { closeNotifications, newestNotification } from '../src/db/notifications';
import { confirmFailedRefund } from '../src/db/transitions/confirm-refund';
import type { ActivityDependencies } from './dependencies';
import { askAfterRefund } from './ask-after-refund';
import { isLostRetry, recordLostRetry } from './provider-refund';
import { resultOf, roundOf, stepOf, unchanged } from './steps';

/** There is news of a payment whose refund was refused: records a refund that went through after all. */
export async function recheckRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms } = request;
  const heard = await newestNotification(dependencies.db, terms);
  const judged = await askAfterRefund(dependencies, request);
  switch (judged.verdict) {
    case 'refunded': {
      if (isLostRetry(request, judged.refundKey)) return recordLostRetry(dependencies, request, judged.refundKey);
      const confirmed = { round: roundOf(request), providerReference: judged.providerReference };
      return resultOf(await confirmFailedRefund(dependencies, stepOf(request), confirmed));
    }
    case 'under_way': {
      const attention = 'The provider refused the refund, and has one under way all the same.';
      return unchanged(dependencies, request, { attention });
    }
    case 'unclear': {
      const attention = `The provider refused the refund, and is unclear now: ${judged.reason}.`;
      return unchanged(dependencies, request, { attention });
    }
    case 'none':
      await closeNotifications(dependencies.db, terms, heard, COVERED_BY.paid);
      return unchanged(dependencies, request);
  }
}
