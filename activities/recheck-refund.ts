import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { closeNotifications, newestNotification } from '../src/db/notifications';
import { confirmFailedRefund } from '../src/db/transitions/confirm-refund';
import type { ActivityDependencies } from './dependencies';
import { askAfterRefund } from './ask-after-refund';
import { resultOf, roundOf, stepOf } from './steps';

/** There is news of a payment whose refund was refused: records a refund that went through after all. */
export async function recheckRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { state, terms } = request;
  const heard = await newestNotification(dependencies.db, terms.referenceId);
  const judged = await askAfterRefund(dependencies, request);
  switch (judged.verdict) {
    case 'refunded': {
      const confirmed = { round: roundOf(request), providerReference: judged.providerReference };
      return resultOf(await confirmFailedRefund(dependencies, stepOf(request), confirmed));
    }
    case 'under_way':
      return { state, attention: 'The provider refused the refund, and has one under way all the same.' };
    case 'unclear':
      return { state, attention: `The provider refused the refund, and is unclear now: ${judged.reason}.` };
    case 'none':
      await closeNotifications(dependencies.db, terms.referenceId, heard);
      return { state };
  }
}
