import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import type { ActivityDependencies } from './dependencies';
import { applyProviderStatus } from './apply-provider-status';
import { providerCall, unclear } from './provider-call';
import { unchanged } from './steps';

/** Asks the provider whether a payment that was reported as paid really is, and records what it says. */
export async function confirmPaid(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(terms.referenceId, providerCall());
  switch (found.outcome) {
    case 'found':
      return applyProviderStatus(dependencies, request, found.payment);
    case 'not_found': {
      const attention = 'The provider does not know this order. `lunas payments fail` ends the payment.';
      return unchanged(dependencies, request, { attention });
    }
    case 'unclear':
      throw unclear(found);
  }
}
