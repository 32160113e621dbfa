import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import type { Step, TransitionContext, TransitionOutcome } from '../src/db/transitions/apply-transition';
import type { ActivityDependencies } from './dependencies';
import { confirmPaid } from './confirm-paid';
import { providerCall, unclear } from './provider-call';
import { resultOf, stepOf } from './steps';

/**
 * Has the provider end an unpaid order, and records that. Only its confirmation counts; where it says that it can no longer
 * change the order, its status tells what became of it.
 */
export async function endOrder(
  dependencies: ActivityDependencies,
  request: PaymentStep,
  end: 'expirePayment' | 'cancelPayment',
  recordEnd: (context: TransitionContext, step: Step) => Promise<TransitionOutcome>,
): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const outcome = await provider[end](terms.referenceId, providerCall());
  switch (outcome.outcome) {
    case 'accepted':
      return resultOf(await recordEnd(dependencies, stepOf(request)));
    case 'refused':
      return confirmPaid(dependencies, request);
    case 'unclear':
      throw unclear(outcome);
  }
}
