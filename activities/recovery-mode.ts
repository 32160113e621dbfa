import type { TransitionContext } from '../src/db/transitions/apply-transition';
import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { unchanged } from './steps';

/** Why a worker in recovery mode does not move money (`LUNAS_RECOVERY_MODE`). */
export const RECOVERY_MODE = 'the worker is in recovery mode and neither settles nor refunds';

/** The result of a step that would move money. The workflow asks the provider again before it repeats the step. */
export function heldBack(context: TransitionContext, request: PaymentStep): Promise<StepResult> {
  return unchanged(context, request, { attention: `${RECOVERY_MODE}.`, refusal: `Not now: ${RECOVERY_MODE}.` });
}
