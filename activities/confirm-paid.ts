import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import type { ActivityDependencies } from './dependencies';
import { applyProviderStatus } from './apply-provider-status';
import { providerCall, unclear } from './provider-call';

/** Asks the provider whether a payment that was reported as paid really is, and records what it says. */
export async function confirmPaid(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms, state } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(terms.referenceId, providerCall());
  switch (found.outcome) {
    case 'found':
      return applyProviderStatus(dependencies, request, found.payment);
    case 'not_found':
      return { state, attention: 'The provider does not know this order.' };
    case 'unclear':
      throw unclear(found);
  }
}
