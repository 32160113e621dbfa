import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { isGrpcServiceError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { eventually } from './eventually';

/** A workflow is idle if it only waits for a timer, a message or an activity. */
interface WorkflowState {
  readonly runId: string;
  readonly eventCount: number;
  readonly isCompleted: boolean;
  readonly isIdle: boolean;
  readonly nextTimerMs: number;
  /** It runs, and then the server does not skip time, or it waits for its next attempt, whose time is not known. */
  readonly hasActivity: boolean;
}

const NOT_STARTED: WorkflowState = {
  runId: '',
  eventCount: 0,
  isCompleted: false,
  isIdle: true,
  nextTimerMs: Infinity,
  hasActivity: false,
};

/** The time that a request needs to reach its workflow. */
const IDLE_FOR_MS = 100;
/** From one look at a busy workflow to the next: each look takes time from the worker. */
const BUSY_FOR_MS = 25;
const NEXT_ATTEMPT_MS = 10_000;
const DAY_MS = 86_400_000;
/** More than the delay between two attempts of a call. A caller waits for nothing else. */
const MAX_RETRY_DELAY_MS = 60_000;

/**
 * Advances time on a server that skips it, only while every workflow is idle, and never beyond the next timer.
 * Otherwise the server skips time while workers execute tasks. These tasks time out, and the server loses some of them.
 */
export class VirtualClock {
  readonly #states = new Map<string, WorkflowState>();

  /**
   * @param listWorkflowIds the observed workflows; they need not exist yet
   * @param activitiesSucceed every activity succeeds within some attempts, so a workflow that has one is not idle
   */
  constructor(
    private readonly environment: TestWorkflowEnvironment,
    private readonly listWorkflowIds: () => Promise<readonly string[]>,
    private readonly activitiesSucceed = false,
  ) {}

  /** Resolves when no workflow had an event for `IDLE_FOR_MS`: the next event is a timer. */
  async waitUntilIdle(): Promise<void> {
    await eventually(
      () => this.#busyWorkflowIds(),
      (workflowIds) => workflowIds.length === 0,
    );
  }

  /** The next timer of a workflow, as of the last time that all workflows were idle. */
  nextTimerMsOf(workflowId: string): number {
    return this.#states.get(workflowId)?.nextTimerMs ?? Infinity;
  }

  /** Advances time by this duration, from timer to timer. */
  async advance(ms: number): Promise<void> {
    const untilMs = (await this.environment.currentTimeMs()) + ms;
    do {
      await this.waitUntilIdle();
      await this.#skipUntil(untilMs);
    } while ((await this.environment.currentTimeMs()) < untilMs);
    await this.waitUntilIdle();
  }

  /** Advances time to the next timer, but by one day at most, and waits until the workflows are idle again. */
  async advanceToNextTimer(): Promise<void> {
    await this.waitUntilIdle();
    await this.#skipUntil((await this.environment.currentTimeMs()) + DAY_MS);
    await this.waitUntilIdle();
  }

  /** Advances time until `work` is complete. */
  async advanceWhile<T>(work: Promise<T>): Promise<T> {
    const isOver = Promise.allSettled([work]).then(() => 'over' as const);
    for (;;) {
      const seen = await Promise.race([isOver, this.#busyWorkflowIds()]);
      if (seen === 'over') return work;
      if (seen.length > 0) {
        await sleep(BUSY_FOR_MS);
        continue;
      }
      const nowMs = await this.environment.currentTimeMs();
      if (this.#nextMs(nowMs) <= nowMs + MAX_RETRY_DELAY_MS) await this.#skipUntil(nowMs + MAX_RETRY_DELAY_MS);
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

  /** @returns the workflows that were not idle for `IDLE_FOR_MS` */
  async #busyWorkflowIds(): Promise<string[]> {
    const workflowIds = await this.listWorkflowIds();
    const before = await this.#refreshAll(workflowIds);
    const busy = workflowIds.filter((_, at) => !before[at]?.isIdle);
    if (busy.length > 0) return busy;
    await sleep(IDLE_FOR_MS);
    const after = await this.#refreshAll(workflowIds);
    return workflowIds.filter((_, at) => !after[at]?.isIdle || after[at].eventCount !== before[at]?.eventCount);
  }

  #refreshAll(workflowIds: readonly string[]): Promise<WorkflowState[]> {
    return Promise.all(workflowIds.map((workflowId) => this.#refresh(workflowId)));
  }

  async #refresh(workflowId: string): Promise<WorkflowState> {
    const known = this.#states.get(workflowId);
    // A late payment may be received again, by a new run.
    if (known?.isCompleted && workflowId.startsWith('payment-')) return known;
    if (known && known !== NOT_STARTED && (await this.#isUnchanged(workflowId, known))) return known;
    const state = await this.#fetchState(workflowId);
    this.#states.set(workflowId, state);
    return state;
  }

  /** Most workflows wait for a timer. To read their length takes a fraction of the time of their history. */
  async #isUnchanged(workflowId: string, { runId, eventCount }: WorkflowState): Promise<boolean> {
    const described = await this.environment.client.workflow.getHandle(workflowId).describe();
    return described.runId === runId && described.historyLength === eventCount;
  }

  async #fetchState(workflowId: string): Promise<WorkflowState> {
    try {
      const { events } = await this.environment.client.workflow.getHandle(workflowId).fetchHistory();
      const state = stateIn(events ?? []);
      return { ...state, isIdle: state.isIdle && !(state.hasActivity && this.activitiesSucceed) };
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
  for (const { eventId, eventTime, timerStartedEventAttributes: timer, ...event } of events) {
    if (timer) timers.set(timer.timerId ?? '', milliseconds(eventTime) + milliseconds(timer.startToFireTimeout));
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
  const [last, started] = [events.at(-1), events[0]?.workflowExecutionStartedEventAttributes];
  const isCompleted = Boolean(last?.workflowExecutionCompletedEventAttributes);
  return {
    runId: started?.originalExecutionRunId ?? '',
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
