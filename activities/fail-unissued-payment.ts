import { ApplicationFailure } from '@temporalio/activity';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { requestStatusQuery } from '../src/db/notification-inbox';
import type { Provider } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { opened } from './open-payment';
import { providerDeadline, indeterminateError } from './provider-deadline';
import { toTransitionInput } from './transition-input';

/**
 * Fails a payment for which the provider issued no QR in time: only after a look-up that is later than the last call
 * could have ended, and after an order that shows up all the same was expired at the provider. One that was paid by then is
 * news of a payment that has ended: late money.
 */
export async function failUnissuedPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { state } = await transitionWriters.create(dependencies, request);
  if (state.status !== 'created') return { state };
  const { providerAccountId, referenceId } = request.terms;
  const provider = await dependencies.providers.forAccount(providerAccountId);
  const order = await expireUnlessPaid(provider, referenceId);
  if (order === 'paid') await requestStatusQuery(dependencies.db, { accountId: providerAccountId, referenceId });
  const reason = 'the provider did not issue a QR code in time';
  const rejected = await transitionWriters.fail_creation(dependencies, {
    ...toTransitionInput({ ...request, state }),
    reason,
  });
  return opened(dependencies, request, rejected, { outcome: 'rejected', atMs: request.atMs, reason });
}

async function expireUnlessPaid(provider: Provider, referenceId: string): Promise<'ended' | 'paid'> {
  const found = await provider.findPayment(referenceId, providerDeadline());
  if (found.outcome === 'indeterminate') throw indeterminateError(found);
  if (found.outcome === 'not_found') return 'ended';
  if (found.payment.status === 'paid' || found.payment.status === 'refunded') return 'paid';
  if (found.payment.status !== 'pending') return 'ended';
  const closed = await provider.expirePayment(referenceId, providerDeadline());
  if (closed.outcome === 'indeterminate') throw indeterminateError(closed);
  if (closed.outcome === 'rejected') {
    throw ApplicationFailure.retryable(
      `The provider has the order and cannot expire it: ${closed.reason}`,
      'ProviderOrderStillOpen',
    );
  }
  return 'ended';
}
