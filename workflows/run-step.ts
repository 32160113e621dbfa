import {
  ActivityFailure,
  CancellationScope,
  condition,
  patched,
  TimeoutFailure,
  type ActivityOptions,
} from '@temporalio/workflow';
import { authentic } from './authentic';
import { SECOND_MS } from './retry-policies';
import { PATCHES } from './versions';

/** A step that is retried for this long is shown as one that needs attention: operators see it within a minute. */
const ATTENTION_DELAY_MS = 30 * SECOND_MS;

/** One step of a workflow, in both ways in which Temporal can run it. */
export interface StepCall<Result> {
  /** The step as a local activity: immediately, within the workflow task. Absent: only as a regular one. */
  readonly local?: () => Promise<Result>;
  /** The step as a regular activity, which Temporal retries and shows. A history of before has options of its own. */
  readonly regular: (optionsOfBefore: Pick<ActivityOptions, 'cancellationType'>) => Promise<Result>;
  /** Called once the step has been retried for 30 s. */
  readonly onRetrying: () => void;
  /** True once an operator requests something that must not wait for this step. */
  readonly isInterrupted: () => boolean;
}

/**
 * Runs a step in a local activity and, if that fails, in a regular one. A request interrupts its retries: it waits for
 * the attempt in flight, if there is one, and no other attempt follows.
 * @returns the step's result, also of an attempt that was interrupted; null if a request interrupted the retries
 * @throws the failure after which nothing is retried
 */
export async function runStep<Result>(step: StepCall<Result>): Promise<Result | null> {
  if (!step.local) return retryVisibly(step);
  try {
    return authentic(await step.local());
  } catch {
    return retryVisibly(step);
  }
}

async function retryVisibly<Result>({ regular, onRetrying, isInterrupted }: StepCall<Result>): Promise<Result | null> {
  const scope = new CancellationScope();
  const isWaitedFor = patched(PATCHES.interruptionWaitsForAttempt);
  let isSettled = false;
  // Settled, not awaited: a rejection that nothing handles yet would fail the workflow task.
  const settled = Promise.allSettled([
    scope.run(() => regular(isWaitedFor ? {} : { cancellationType: 'TRY_CANCEL' })),
  ]).then(([outcome]) => {
    isSettled = true;
    return outcome;
  });
  const isOver = () => isSettled || isInterrupted();
  if (!(await condition(isOver, ATTENTION_DELAY_MS, { summary: 'the step needs attention' }))) {
    onRetrying();
    await condition(isOver);
  }
  if (!isSettled) scope.cancel();
  const outcome = await settled;
  if (outcome.status === 'fulfilled') return authentic(outcome.value);
  if (isInterrupted() && !(isWaitedFor && mayBeInFlight(outcome.reason))) return null;
  throw outcome.reason;
}

/** Temporal has ended the activity, and not its attempt. The end of an attempt's own time is after its last call. */
function mayBeInFlight(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_CLOSE';
}
