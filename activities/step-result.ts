import type { TransitionContext, TransitionInput, TransitionResult } from '../src/db/transitions/apply-transition';
import { readState } from '../src/db/transitions/payment-state';
import type { StepInput, StepResult } from '../src/domain/workflow-step';

export function toTransitionInput({ terms, state, atMs, by }: StepInput): TransitionInput {
  return { paymentId: terms.paymentId, version: state.version, at: new Date(atMs), ...(by && { by }) };
}

/** If another transition came first, the workflow continues from the state in PostgreSQL, and needs attention. */
export function toStepResult({ outcome, state }: TransitionResult): StepResult {
  if (outcome !== 'superseded') return { state };
  return {
    state,
    attentionReason: `PostgreSQL had the payment elsewhere: "${state.status}", version ${state.version}.`,
  };
}

/**
 * The result of a step that changes nothing. If Temporal or PostgreSQL was restored to an earlier time, one of them has
 * transitions that the other has lost: then the workflow continues from the state in PostgreSQL.
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

/** Why a worker in recovery mode (`LUNAS_RECOVERY_MODE`) moves no money. */
export const RECOVERY_MODE = 'the worker is in recovery mode and neither settles nor refunds';

/** Why the payments of such a merchant do not settle. */
export const MERCHANT_ON_HOLD = 'the merchant is on hold (`lunas merchants release` ends that)';

/** The result of a step that would move money. The workflow queries the provider before it repeats the step. */
export function heldBack(context: TransitionContext, request: StepInput, reason: string): Promise<StepResult> {
  return unchanged(context, request, { attentionReason: `${reason}.`, rejection: `Not now: ${reason}.` });
}
