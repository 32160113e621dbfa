import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { isGrpcServiceError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { eventually } from './eventually';

/** A workflow: whether it has nothing to do but wait, and for which instant. */
interface WorkflowState {
  readonly eventCount: number;
  readonly isCompleted: boolean;
  readonly isIdle: boolean;
  readonly nextTimerMs: number;
  /** Which is at work, and then the server does not skip, or waits for its next try, of which nothing tells when. */
  readonly hasActivity: boolean;
}

const NOT_STARTED: WorkflowState = {
  eventCount: 0,
  isCompleted: false,
  isIdle: true,
  nextTimerMs: Infinity,
  hasActivity: false,
};

/** What a request needs to reach its workflow. */
const IDLE_FOR_MS = 100;
const NEXT_ATTEMPT_MS = 10_000;
const DAY_MS = 86_400_000;
/** Longer than the pause between two tries of a call; nothing else is awaited by who has asked something. */
const MAX_RETRY_DELAY_MS = 60_000;

/**
 * Passes time on a server that skips it: only while every workflow is at rest, and never beyond the next timer of any. Left to
 * itself the server skips under tasks that are being worked on; they time out, and at times one is lost for good.
 */
export class VirtualClock {
  readonly #states = new Map<string, WorkflowState>();

  /** @param listWorkflowIds those that it looks after; there may be none yet of such an id */
  constructor(
    private readonly environment: TestWorkflowEnvironment,
    private readonly listWorkflowIds: () => Promise<readonly string[]>,
  ) {}

  /** Every workflow waits: nothing has happened for a moment, and nothing will before the next timer. */
  async waitUntilIdle(): Promise<void> {
    await eventually(
      () => this.#busyWorkflowIds(),
      (workflowIds) => workflowIds.length === 0,
    );
  }

  /** When a workflow will do something by itself, as it was when all were last at rest. */
  nextTimerMsOf(workflowId: string): number {
    return this.#states.get(workflowId)?.nextTimerMs ?? Infinity;
  }

  /** Lets so much time pass, from timer to timer. */
  async advance(ms: number): Promise<void> {
    const untilMs = (await this.environment.currentTimeMs()) + ms;
    do {
      await this.waitUntilIdle();
      await this.#skipUntil(untilMs);
    } while ((await this.environment.currentTimeMs()) < untilMs);
    await this.waitUntilIdle();
  }

  /** Lets time pass to the next timer, a day at most, and what it starts be done. */
  async advanceToNextTimer(): Promise<void> {
    await this.waitUntilIdle();
    await this.#skipUntil((await this.environment.currentTimeMs()) + DAY_MS);
    await this.waitUntilIdle();
  }

  /** Lets time pass while something waits for it. */
  async advanceWhile<T>(work: Promise<T>): Promise<T> {
    const isOver = Promise.allSettled([work]).then(() => 'over' as const);
    for (;;) {
      const seen = await Promise.race([isOver, this.#busyWorkflowIds()]);
      if (seen === 'over') return work;
      const nowMs = await this.environment.currentTimeMs();
      if (seen.length === 0 && this.#nextMs(nowMs) <= nowMs + MAX_RETRY_DELAY_MS)
        await this.#skipUntil(nowMs + MAX_RETRY_DELAY_MS);
    }
  }

  async #skipUntil(untilMs: number): Promise<void> {
    const nowMs = await this.environment.currentTimeMs();
    const ms = Math.min(this.#nextMs(nowMs), untilMs) - nowMs;
    if (ms > 0) await this.environment.sleep(ms);
  }

  #nextMs(nowMs: number): number {
    const states = [...this.#states.values()];
    const nextAttemptMs = states.some(({ hasActivity }) => hasActivity) ? nowMs + NEXT_ATTEMPT_MS : Infinity;
    return Math.min(nextAttemptMs, ...states.map(({ nextTimerMs }) => nextTimerMs));
  }

  /** @returns the workflows that have not been at rest, unchanged, for a moment */
  async #busyWorkflowIds(): Promise<string[]> {
    const workflowIds = await this.listWorkflowIds();
    const before = await this.#refreshAll(workflowIds);
    if (before.every(({ isIdle }) => isIdle)) await sleep(IDLE_FOR_MS);
    const after = await this.#refreshAll(workflowIds);
    return workflowIds.filter((_, at) => !after[at]?.isIdle || after[at].eventCount !== before[at]?.eventCount);
  }

  #refreshAll(workflowIds: readonly string[]): Promise<WorkflowState[]> {
    return Promise.all(workflowIds.map((workflowId) => this.#refresh(workflowId)));
  }

  async #refresh(workflowId: string): Promise<WorkflowState> {
    const known = this.#states.get(workflowId);
    // Late money may come again, to a new run.
    if (known?.isCompleted && workflowId.startsWith('payment-')) return known;
    const state = await this.#fetchState(workflowId);
    this.#states.set(workflowId, state);
    return state;
  }

  async #fetchState(workflowId: string): Promise<WorkflowState> {
    try {
      const { events } = await this.environment.client.workflow.getHandle(workflowId).fetchHistory();
      return stateIn(events ?? []);
    } catch (error) {
      if (!isGrpcServiceError(error) || error.code !== status.NOT_FOUND) throw error;
      return NOT_STARTED;
    }
  }
}

type Events = NonNullable<
  Awaited<ReturnType<ReturnType<TestWorkflowEnvironment['client']['workflow']['getHandle']>['fetchHistory']>>['events']
>;

function stateIn(events: Events): WorkflowState {
  const timers = new Map<string, number>();
  const activities = new Set<string>();
  for (const { eventId, eventTime, timerStartedEventAttributes: started, ...event } of events) {
    if (started) timers.set(started.timerId ?? '', milliseconds(eventTime) + milliseconds(started.startToFireTimeout));
    const over = event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes;
    if (over) timers.delete(over.timerId ?? '');
    if (event.activityTaskScheduledEventAttributes) activities.add(String(eventId));
    const done =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (done) activities.delete(String(done.scheduledEventId));
  }
  const last = events.at(-1);
  const isCompleted = Boolean(last?.workflowExecutionCompletedEventAttributes);
  return {
    eventCount: events.length,
    isCompleted,
    isIdle: !last?.workflowTaskScheduledEventAttributes && !last?.workflowTaskStartedEventAttributes,
    nextTimerMs: isCompleted ? Infinity : Math.min(...timers.values()),
    hasActivity: activities.size > 0,
  };
}

function milliseconds(of: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(of?.seconds ?? 0) * 1_000 + (of?.nanos ?? 0) / 1_000_000;
}
