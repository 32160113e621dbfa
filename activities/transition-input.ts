import type { TransitionInput, TransitionContext, TransitionResult } from '../src/db/transitions/apply-transition';
import { readState } from '../src/db/transitions/payment-state';
import type { StepInput, StepResult } from '../src/domain/workflow-step';

/** What a workflow asks for, as the database writes it. */
export function toTransitionInput({ terms, state, atMs, by }: StepInput): TransitionInput {
  return { paymentId: terms.paymentId, version: state.version, at: new Date(atMs), ...(by && { by }) };
}

/** The round of the refund that the step is about. */
export function currentRefundNumber({ state }: StepInput): number {
  if (!state.refund) throw new Error(`A payment that is "${state.status}" has no refund here`);
  return state.refund.number;
}

/** A step that found the payment elsewhere takes over what the database says, and asks for a person's eye. */
export function toStepResult({ outcome, state }: TransitionResult): StepResult {
  if (outcome !== 'superseded') return { state };
  return {
    state,
    attentionReason: `PostgreSQL had the payment elsewhere: "${state.status}", version ${state.version}.`,
  };
}

/**
 * The result of a step that changes nothing. Temporal may have lost a step that PostgreSQL has, or PostgreSQL one that
 * Temporal has (either was restored to an earlier time): then the workflow takes over what PostgreSQL has.
 */
export async function unchanged(
  { db }: Pick<TransitionContext, 'db'>,
  { terms, state }: Pick<StepInput, 'terms' | 'state'>,
  result: Omit<StepResult, 'state'> = {},
): Promise<StepResult> {
  const recorded = await readState(db, terms.paymentId);
  return recorded.version === state.version
    ? { state, ...result }
    : toStepResult({ outcome: 'superseded', state: recorded });
}
