import { ApplicationFailure } from '@temporalio/activity';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { acceptPayment } from '../src/db/transitions/accept-payment';
import { rejectPayment } from '../src/db/transitions/reject-payment';
import type { Provider, ProviderPaymentStatus } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { providerCall, unclear } from './provider-call';
import { resultOf, stepOf } from './steps';

/**
 * Fails a payment for which the provider issued no QR in time: only after a look-up that is later than the last call
 * could have ended, and after an order that shows up all the same was expired at the provider.
 */
export async function giveUpPayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { state } = await acceptPayment(dependencies, request);
  if (state.status !== 'created') return { state };
  const { providerAccountId, referenceId } = request.terms;
  await makeSureItCannotBePaid(await dependencies.providers.forAccount(providerAccountId), referenceId);
  const step = stepOf({ ...request, state });
  return resultOf(await rejectPayment(dependencies, step, 'the provider did not issue a QR code in time'));
}

/** An order that cannot be paid any more. */
const CLOSED: ReadonlySet<ProviderPaymentStatus> = new Set(['denied', 'expired', 'cancelled', 'refunded']);

async function makeSureItCannotBePaid(provider: Provider, referenceId: string): Promise<void> {
  const found = await provider.findPayment(referenceId, providerCall());
  if (found.outcome === 'unclear') throw unclear(found);
  if (found.outcome === 'not_found' || CLOSED.has(found.payment.status)) return;
  const ended = await provider.expirePayment(referenceId, providerCall());
  if (ended.outcome === 'unclear') throw unclear(ended);
  if (ended.outcome === 'refused') {
    const state = `it is "${found.payment.status}": ${ended.reason}`;
    throw ApplicationFailure.retryable(`The provider has the order and cannot expire it, ${state}`, 'ProviderHasOrder');
  }
}
