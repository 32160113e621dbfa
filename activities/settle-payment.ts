import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { readClockMs } from '../src/db/reads/read-clock';
import { settlePayment as recordSettled } from '../src/db/transitions/settle-payment';
import type { ActivityDependencies } from './dependencies';
import { heldBack } from './recovery-mode';
import { resultOf, stepOf, unchanged } from './steps';

/** The clocks of two machines may differ by so much. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Makes the net amount of a paid payment available to the merchant. The workflow's clock, which is Temporal's, says when. One
 * of two others has to agree, the worker's or PostgreSQL's, so that a Temporal whose clock jumps ahead settles nothing early.
 */
export async function settlePayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  if (dependencies.isRecovering) return heldBack(dependencies, request);
  const dueAtMs = (request.state.settlesAtMs ?? 0) - CLOCK_TOLERANCE_MS;
  if ((await dependencies.nowMs()) < dueAtMs && (await readClockMs(dependencies.db)) < dueAtMs) {
    const attention = 'The clock of Temporal is ahead of those of the worker and of PostgreSQL: not settled yet.';
    return unchanged(dependencies, request, { attention, refusal: attention });
  }
  return resultOf(await recordSettled(dependencies, stepOf(request)));
}
