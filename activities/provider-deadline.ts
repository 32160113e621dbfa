import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ProviderCall, Indeterminate } from '../src/providers/provider';

/** No activity makes more than three calls, so the last one ends before the attempt's own time-out. */
const CALL_TIMEOUT_FRACTION = 0.3;

/** A regular attempt is over for Temporal at its time-out, and the next one may begin. */
const ATTEMPT_BUDGET_FRACTION = 0.9;

/** One within a workflow task can be over sooner: Temporal gives the task to another worker after 3 s without a word from this one. */
const LOCAL_ACTIVITY_BUDGET_MS = 2_300;

/**
 * A call to the provider on behalf of the running activity: it ends with it, and never outlives it. A worker that stood still
 * for a while (SIGSTOP, a paused machine) does not call when it goes on: another one has taken the step over by then, has looked
 * the order up, and may be charging.
 */
export function providerDeadline(): ProviderCall {
  const context = Context.current();
  const callDeadlineAtMs = Date.now() + context.info.startToCloseTimeoutMs * CALL_TIMEOUT_FRACTION;
  return { signal: context.cancellationSignal, deadlineAtMs: Math.min(callDeadlineAtMs, attemptDeadlineAtMs(context)) };
}

/** When the regular attempts that are under way made their first call: a look-up, so that whatever was before it does no harm. */
const firstCallsAtMs = new WeakMap<Context, number>();

function attemptDeadlineAtMs(context: Context): number {
  const { isLocal, currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = context.info;
  // Of a local activity it is the clock of this process, of another one that of Temporal.
  if (isLocal) return currentAttemptScheduledTimestampMs + LOCAL_ACTIVITY_BUDGET_MS;
  const beganAtMs = firstCallsAtMs.get(context) ?? Date.now();
  firstCallsAtMs.set(context, beganAtMs);
  return beganAtMs + startToCloseTimeoutMs * ATTEMPT_BUDGET_FRACTION;
}

/** An unclear outcome fails the attempt: the next one looks the order up first. */
export function indeterminateError(outcome: Indeterminate): ApplicationFailure {
  return ApplicationFailure.retryable(`The provider is unclear: ${outcome.reason}`, 'ProviderIndeterminate');
}
