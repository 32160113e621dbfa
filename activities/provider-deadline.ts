import { Context } from '@temporalio/activity';
import type { ProviderCall } from '../src/providers/provider';

/** No activity makes more than three calls, so the last one ends before the timeout of the attempt. */
const CALL_TIMEOUT_FRACTION = 0.3;

/** After the timeout of a regular attempt Temporal may start the next one. */
const ATTEMPT_BUDGET_FRACTION = 0.9;

/**
 * A local attempt ends with its workflow task: after 3 s without a response Temporal gives the task to another worker.
 */
const LOCAL_ACTIVITY_BUDGET_MS = 2_300;

/**
 * The limits of a call to the provider by the running activity. The deadline is a timestamp: a worker that was
 * suspended (SIGSTOP, a paused machine) must not call when it continues. By then another worker has queried the order,
 * and may be charging it.
 */
export function providerDeadline(): ProviderCall {
  const context = Context.current();
  const callDeadlineAtMs = Date.now() + context.info.startToCloseTimeoutMs * CALL_TIMEOUT_FRACTION;
  return { signal: context.cancellationSignal, deadlineAtMs: Math.min(callDeadlineAtMs, attemptDeadlineAtMs(context)) };
}

/**
 * The limits of the only call of an attempt. A payout is sent to the bank once for each permission, so the call gets
 * all the time of the attempt. They are taken before the permission is recorded: a worker that was suspended after that
 * makes no call.
 */
export function onlyCallDeadline(): ProviderCall {
  const context = Context.current();
  return { signal: context.cancellationSignal, deadlineAtMs: attemptDeadlineAtMs(context) };
}

const startsMs = new WeakMap<Context, number>();

/**
 * Records when the running attempt began, by the clock of this process. Temporal counts its timeout from then on, also
 * while the attempt waits for PostgreSQL before its first call.
 */
export function recordAttemptStart(): void {
  startsMs.set(Context.current(), Date.now());
}

function attemptDeadlineAtMs(context: Context): number {
  const { isLocal, currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = context.info;
  // The timestamp of a local attempt is by the clock of this process; that of a regular attempt is by Temporal's clock.
  if (isLocal) return currentAttemptScheduledTimestampMs + LOCAL_ACTIVITY_BUDGET_MS;
  // An activity that runs without a worker, in a test, begins with its first call.
  const startedAtMs = startsMs.get(context) ?? Date.now();
  return startedAtMs + startToCloseTimeoutMs * ATTEMPT_BUDGET_FRACTION;
}
