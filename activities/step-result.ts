import type { TransitionOutcome } from '../src/db/transitions/apply-transition';
import type { StepResult } from '../src/domain/payment-step';

/** A step that found the payment elsewhere takes over what the database says, and asks for a person's eye. */
export function stepResult({ outcome, state }: TransitionOutcome): StepResult {
  if (outcome !== 'superseded') return { state };
  return { state, attention: `The database was ahead of the workflow: "${state.status}", version ${state.version}.` };
}
