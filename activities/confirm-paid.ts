import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { ActivityDependencies } from './dependencies';
import { applyProviderStatus } from './apply-provider-status';
import { providerDeadline, indeterminateError } from './provider-deadline';
import { unchanged } from './transition-input';

/** Asks the provider whether a payment that was reported as paid really is, and records what it says. */
export async function confirmPaid(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(terms.referenceId, providerDeadline());
  switch (found.outcome) {
    case 'found':
      return applyProviderStatus(dependencies, request, found.payment);
    case 'not_found': {
      const attentionReason = 'The provider does not know this order. `lunas payments fail` ends the payment.';
      return unchanged(dependencies, request, { attentionReason });
    }
    case 'indeterminate':
      throw indeterminateError(found);
  }
}
