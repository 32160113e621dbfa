import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf } from '../src/domain/refund';
import { closeNotifications, newestNotification } from '../src/db/notifications';
import { requestRefund } from '../src/db/transitions/request-refund';
import type { ActivityDependencies } from './dependencies';
import { askAfterRefund } from './ask-after-refund';
import { resultOf, stepOf } from './steps';

/**
 * There is news of a paid payment. Where the provider has refunded the customer without being asked by us (in its own
 * dashboard), the refund is opened here too, so that the merchant is not paid for it; the next steps find it confirmed.
 */
export async function recheckPaid(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { state, terms } = request;
  const heard = await newestNotification(dependencies.db, terms.referenceId);
  const judged = await askAfterRefund(dependencies, request);
  switch (judged.verdict) {
    case 'refunded':
    case 'under_way': {
      const round = (state.refund?.round ?? 0) + 1;
      const refund = { round, refundKey: refundKeyOf(terms.referenceId, round), holdSeconds: 0 };
      const by = { actor: 'provider', note: 'refunded at the provider, not by us' };
      return resultOf(await requestRefund(dependencies, stepOf({ ...request, by }), refund));
    }
    case 'unclear':
      return { state, attention: `It is paid, and the provider is unclear now: ${judged.reason}.` };
    case 'none':
      await closeNotifications(dependencies.db, terms.referenceId, heard);
      return { state };
  }
}
