import { ApplicationFailure } from '@temporalio/activity';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { acceptPayment } from '../src/db/transitions/accept-payment';
import { rejectPayment } from '../src/db/transitions/reject-payment';
import { noteNews } from '../src/db/notifications';
import type { Provider } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { opened } from './open-payment';
import { providerCall, unclear } from './provider-call';
import { stepOf } from './steps';

/**
 * Fails a payment for which the provider issued no QR in time: only after a look-up that is later than the last call
 * could have ended, and after an order that shows up all the same was expired at the provider. One that was paid by then is
 * news of a payment that has ended: late money.
 */
export async function giveUpPayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { state } = await acceptPayment(dependencies, request);
  if (state.status !== 'created') return { state };
  const { providerAccountId, referenceId } = request.terms;
  const provider = await dependencies.providers.forAccount(providerAccountId);
  const order = await endUnlessPaid(provider, referenceId);
  if (order === 'paid') await noteNews(dependencies.db, { accountId: providerAccountId, referenceId });
  const reason = 'the provider did not issue a QR code in time';
  const rejected = await rejectPayment(dependencies, stepOf({ ...request, state }), reason);
  return opened(dependencies, request, rejected, { outcome: 'rejected', atMs: request.atMs, reason });
}

async function endUnlessPaid(provider: Provider, referenceId: string): Promise<'ended' | 'paid'> {
  const found = await provider.findPayment(referenceId, providerCall());
  if (found.outcome === 'unclear') throw unclear(found);
  if (found.outcome === 'not_found') return 'ended';
  if (found.payment.status === 'paid' || found.payment.status === 'refunded') return 'paid';
  if (found.payment.status !== 'pending') return 'ended';
  const ended = await provider.expirePayment(referenceId, providerCall());
  if (ended.outcome === 'unclear') throw unclear(ended);
  if (ended.outcome === 'refused') {
    throw ApplicationFailure.retryable(
      `The provider has the order and cannot expire it: ${ended.reason}`,
      'ProviderHasOrder',
    );
  }
  return 'ended';
}
