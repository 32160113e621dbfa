import { CancellationScope, condition } from '@temporalio/workflow';
import { authentic } from './authentic';
import { SECOND_MS } from './retry-policies';

/** A step that is retried for this long is shown as one that needs attention: operators see it within a minute. */
const ATTENTION_DELAY_MS = 30 * SECOND_MS;

/** One step of a workflow, in both ways in which Temporal can run it. */
export interface StepCall<Result> {
  /** As a local activity: immediately, within the workflow task. Absent: only as a regular one. */
  readonly local?: () => Promise<Result>;
  /**
   * As a regular activity, which Temporal retries and shows. Cancelling it has to wait until no attempt is in flight.
   */
  readonly regular: () => Promise<Result>;
  /** Called once the step has been retried for 30 s. */
  readonly onRetrying: () => void;
  /** True once an operator requests something that must not wait for this step. */
  readonly isInterrupted: () => boolean;
}

/**
 * Runs a step in a local activity and, if that fails, in a regular one.
 * @returns the step's result, or null if an operator's request interrupted its retries
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
  let isSettled = false;
  // Settled, not awaited: a rejection that nothing handles yet would fail the workflow task.
  const settled = Promise.allSettled([scope.run(regular)]).then(([outcome]) => {
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
  if (isInterrupted()) return null;
  throw outcome.reason;
}
