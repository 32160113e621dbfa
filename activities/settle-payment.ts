import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { settlePayment as recordSettled } from '../src/db/transitions/settle-payment';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { resultOf, stepOf, unchanged } from './steps';

/** The clocks of two machines may differ by so much. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Makes the net amount of a paid payment available to the merchant. The workflow's clock, which is Temporal's, says when. The
 * worker's has to agree, so that a Temporal whose clock jumps ahead settles nothing early.
 */
export async function settlePayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  if (dependencies.isRecovering) return heldBack(dependencies, request);
  const earlyMs = (request.state.settlesAtMs ?? 0) - (await dependencies.nowMs());
  if (earlyMs > CLOCK_TOLERANCE_MS) {
    const attention = `The clocks of Temporal and this worker differ by ${Math.round(earlyMs / 1_000)} s: not settled yet.`;
    return unchanged(dependencies, request, { attention, refusal: attention });
  }
  return resultOf(await recordSettled(dependencies, stepOf(request)));
}
