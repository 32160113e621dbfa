import type { TransitionContext } from '../src/db/transitions/apply-transition';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { unchanged } from './transition-input';

/** Why a worker in recovery mode does not move money (`LUNAS_RECOVERY_MODE`). */
export const RECOVERY_MODE = 'the worker is in recovery mode and neither settles nor refunds';

/** The result of a step that would move money. The workflow asks the provider again before it repeats the step. */
export function heldBack(context: TransitionContext, request: StepInput): Promise<StepResult> {
  return unchanged(context, request, { attentionReason: `${RECOVERY_MODE}.`, rejection: `Not now: ${RECOVERY_MODE}.` });
}
