import type { TransitionInput, TransitionResult } from '../src/db/transitions/apply-payment-transition';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { readState } from '../src/db/transitions/payment-state';
import type { StepActor } from '../src/domain/actor';
import { OPERATOR_STEPS } from '../src/domain/operator-steps';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { codeOf } from '../src/errors';

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
export async function keepState(
  { db }: Pick<TransitionContext, 'db'>,
  { terms, state }: Pick<StepInput, 'terms' | 'state'>,
  result: Omit<StepResult, 'state'> = {},
): Promise<StepResult> {
  const recorded = await readState(db, terms.paymentId);
  return recorded.version === state.version
    ? { state, ...result }
    : toStepResult({ outcome: 'superseded', state: recorded });
}

/** SQLSTATE of Lunas: a trigger permits the step only to other people. */
const NOT_APPROVED = 'LN001';

interface Unpermitted<State> {
  readonly state: State;
  readonly rejection: string;
  readonly attentionReason?: string;
}

/**
 * The step, or a rejection if PostgreSQL does not permit it. Of a step that the workflow itself requests no caller sees
 * the rejection, so it needs attention.
 */
export async function permitted<State, Result>(
  { state, by }: { readonly state: State; readonly by?: StepActor | undefined },
  step: () => Promise<Result>,
): Promise<Result | Unpermitted<State>> {
  try {
    return await step();
  } catch (error) {
    if (codeOf(error) !== NOT_APPROVED) throw error;
    const rejection = 'The right people have not approved it.';
    return { state, rejection, ...(!by && { attentionReason: rejection }) };
  }
}

/** Why no money moves while recovery mode is on. */
export const RECOVERY_MODE = OPERATOR_STEPS.endRecoveryMode;

/** The result of a step that would move money. The workflow queries the provider before it repeats the step. */
export function deferred(
  context: TransitionContext,
  request: StepInput,
  { reason, ...result }: { readonly reason: string } & Pick<StepResult, 'isMerchantOnHold'>,
): Promise<StepResult> {
  return keepState(context, request, { attentionReason: `${reason}.`, rejection: `Not now: ${reason}.`, ...result });
}
