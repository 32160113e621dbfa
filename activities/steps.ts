import type { Step, TransitionOutcome } from '../src/db/transitions/apply-transition';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';

/** What a workflow asks for, as the database writes it. */
export function stepOf({ terms, state, atMs, by }: PaymentStep): Step {
  return { paymentId: terms.paymentId, version: state.version, at: new Date(atMs), ...by };
}

/** The round of the refund that the step is about. */
export function roundOf({ state }: PaymentStep): number {
  if (!state.refund) throw new Error(`A payment that is "${state.status}" has no refund here`);
  return state.refund.round;
}

/** A step that found the payment elsewhere takes over what the database says, and asks for a person's eye. */
export function resultOf({ outcome, state }: TransitionOutcome): StepResult {
  if (outcome !== 'superseded') return { state };
  return { state, attention: `The database was ahead of the workflow: "${state.status}", version ${state.version}.` };
}
