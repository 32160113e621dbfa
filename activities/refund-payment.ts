import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf } from '../src/domain/refund';
import { readState } from '../src/db/transitions/payment-state';
import { confirmRefund } from '../src/db/transitions/confirm-refund';
import { refuseRefund } from '../src/db/transitions/refuse-refund';
import type { ActivityDependencies } from './dependencies';
import { pursueRefund } from './pursue-refund';
import { resultOf, roundOf, stepOf } from './steps';

/**
 * Moves a submitted refund on, and does not fail where the provider is unclear: it is asked again later, for ever. Only what
 * PostgreSQL has as submitted goes to the provider: the workflow may be behind it, and the merchant may have taken the refund back.
 */
export async function refundPayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms, state } = request;
  const round = roundOf(request);
  const truth = await readState(dependencies.db, terms.paymentId);
  if (truth.version !== state.version || truth.refund?.status !== 'submitted') return { state: truth };
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const refund = await pursueRefund(
    provider,
    {
      referenceId: terms.referenceId,
      refundKey: refundKeyOf(terms.referenceId, round),
      totalRupiah: terms.totalRupiah,
      reason: 'requested by the merchant',
    },
    dependencies.isRecovering,
  );
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
