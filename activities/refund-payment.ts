import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf } from '../src/domain/refund';
import { confirmRefund } from '../src/db/transitions/confirm-refund';
import { refuseRefund } from '../src/db/transitions/refuse-refund';
import type { ActivityDependencies } from './dependencies';
import { pursueRefund } from './pursue-refund';
import { resultOf, roundOf, stepOf } from './steps';

/** Moves a submitted refund on, and does not fail where the provider is unclear: it is asked again later, for ever. */
export async function refundPayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms, state } = request;
  const round = roundOf(request);
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const refund = await pursueRefund(provider, {
    referenceId: terms.referenceId,
    refundKey: refundKeyOf(terms.referenceId, round),
    totalRupiah: terms.totalRupiah,
    reason: 'requested by the merchant',
  });
  switch (refund.verdict) {
    case 'refunded': {
      const confirmed = { round, providerReference: refund.providerReference };
      return resultOf(await confirmRefund(dependencies, stepOf(request), confirmed));
    }
    case 'refused':
      return resultOf(await refuseRefund(dependencies, stepOf(request), { round, reason: refund.reason }));
    case 'under_way':
      return { state };
    case 'unclear':
      return { state, attention: `The refund is unclear at the provider: ${refund.reason}.` };
  }
}
