import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { TransitionInput, TransitionContext, TransitionResult } from '../src/db/transitions/apply-transition';
import type { ActivityDependencies } from './dependencies';
import { confirmPaid } from './confirm-paid';
import { providerDeadline, indeterminateError } from './provider-deadline';
import { toStepResult, toTransitionInput } from './transition-input';

/**
 * Has the provider end an unpaid order, and records that. Only its confirmation counts; where it says that it can no longer
 * change the order, its status tells what became of it.
 */
export async function closeOrder(
  dependencies: ActivityDependencies,
  request: StepInput,
  operation: 'expirePayment' | 'cancelPayment',
  recordClosed: (context: TransitionContext, step: TransitionInput) => Promise<TransitionResult>,
): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const outcome = await provider[operation](terms.referenceId, providerDeadline());
  switch (outcome.outcome) {
    case 'accepted':
      return toStepResult(await recordClosed(dependencies, toTransitionInput(request)));
    case 'rejected':
      return confirmPaid(dependencies, request);
    case 'indeterminate':
      throw indeterminateError(outcome);
  }
}
