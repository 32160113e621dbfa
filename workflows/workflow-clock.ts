import { condition } from '@temporalio/workflow';

/**
 * The time of a workflow: Unix time, and never before the end of a timer that has fired.
 *
 * `Date.now()` is the start of the workflow task. A query may reach a worker that has to replay the workflow, while a
 * timer fires: then the SDK runs the workflow on from the timer within the query, in which no workflow task has started
 * (`build_next_wft` in history_update.rs of its core), and `Date.now()` is that of the task before. A workflow that
 * compared it with the timer's end would wait once more, and a replay, which has the right time, would not:
 * Temporal could not continue the workflow any more.
 */
export class WorkflowClock {
  #reachedMs = 0;

  get nowMs(): number {
    return Math.max(Date.now(), this.#reachedMs);
  }

  /** Waits until it is true, or for so long. */
  async wait(isTrue: () => boolean, { afterMs, summary }: { afterMs: number; summary: string }): Promise<void> {
    const endsAtMs = this.nowMs + afterMs;
    if (!(await condition(isTrue, afterMs, { summary }))) this.#reachedMs = Math.max(this.#reachedMs, endsAtMs);
  }
}
