import type { Step, TransitionContext, TransitionOutcome } from '../src/db/transitions/apply-transition';
import { readState } from '../src/db/transitions/payment-state';
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
  return { state, attention: `PostgreSQL had the payment elsewhere: "${state.status}", version ${state.version}.` };
}

/**
 * The result of a step that changes nothing. Temporal may have lost a step that PostgreSQL has, or PostgreSQL one that
 * Temporal has (either was restored to an earlier time): then the workflow takes over what PostgreSQL has.
 */
export async function unchanged(
  { db }: Pick<TransitionContext, 'db'>,
  { terms, state }: Pick<PaymentStep, 'terms' | 'state'>,
  result: Omit<StepResult, 'state'> = {},
): Promise<StepResult> {
  const recorded = await readState(db, terms.paymentId);
  return recorded.version === state.version
    ? { state, ...result }
    : resultOf({ outcome: 'superseded', state: recorded });
}
