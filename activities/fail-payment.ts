import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { expiryOf } from '../src/domain/payment';
import { isFinal } from '../src/domain/payment-transitions';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { ProviderPayment } from '../src/providers/provider';
import { applyProviderStatus, failAndQueryAgain } from './apply-provider-status';
import type { ActivityDependencies } from './dependencies';
import { opened } from './open-payment';
import { providerDeadline } from './provider-deadline';
import { toStepResult, toTransitionInput } from './transition-input';

/** A provider that gives no clear status for so long after the deadline does not hold an operator up any more. */
const INDETERMINATE_AFTER_DEADLINE_MS = 24 * 3_600_000;

/**
 * An operator ends a payment that no rule can end. The provider's status comes first: what it decides is recorded, and
 * while it has the order as pending, or as paid with the right amount, the payment does not fail.
 */
export async function failPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { terms, state, atMs, createdAtMs } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(terms.referenceId, providerDeadline());
  switch (found.outcome) {
    case 'found':
      return failKnownOrder(dependencies, request, found.payment);
    case 'not_found':
      return fail(dependencies, request, 'the provider does not know the order');
    case 'indeterminate': {
      const allowedAtMs = expiryOf(createdAtMs, terms) + INDETERMINATE_AFTER_DEADLINE_MS;
      if (atMs >= allowedAtMs) return fail(dependencies, request, `the provider gave no clear status: ${found.reason}`);
      const until = new Date(allowedAtMs).toISOString();
      const rejection = `The provider gives no clear status (${found.reason}): before ${until} it cannot be failed.`;
      return { state, rejection };
    }
  }
}

async function failKnownOrder(
  dependencies: ActivityDependencies,
  request: StepInput,
  payment: ProviderPayment,
): Promise<StepResult> {
  const { state, terms } = request;
  if (state.status === 'created')
    return { state, rejection: 'The provider has the order: wait for its creation to end.' };
  const isPaid = payment.status === 'paid' || payment.status === 'refunded';
  if (isPaid && payment.totalRupiah !== terms.totalRupiah) {
    return failAndQueryAgain(dependencies, request, 'the provider has it as paid over another amount');
  }
  const applied = await applyProviderStatus(dependencies, request, payment);
  if (isFinal(applied.state.status)) return applied;
  return { ...applied, rejection: `The provider has the order as ${payment.status}: the payment cannot be failed.` };
}

async function fail(dependencies: ActivityDependencies, request: StepInput, reason: string): Promise<StepResult> {
  const input = { ...toTransitionInput(request), reason };
  if (request.state.status !== 'created') return toStepResult(await transitionWriters.fail(dependencies, input));
  const rejected = await transitionWriters.fail_creation(dependencies, input);
  return opened(dependencies, request, rejected, { outcome: 'rejected', atMs: request.atMs, reason });
}
