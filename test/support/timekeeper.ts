import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { isGrpcServiceError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { until } from './until';

/** A workflow: whether it has nothing to do but wait, and for which instant. */
interface Wait {
  readonly eventCount: number;
  readonly hasEnded: boolean;
  readonly isAtRest: boolean;
  readonly nextTimerMs: number;
  /** Which is at work, and then the server does not skip, or waits for its next try, of which nothing tells when. */
  readonly hasActivity: boolean;
}

const NOT_STARTED: Wait = { eventCount: 0, hasEnded: false, isAtRest: true, nextTimerMs: Infinity, hasActivity: false };

/** What a request needs to reach its workflow. */
const STILL_FOR_MS = 100;
const NEXT_TRY_MS = 10_000;
const DAY_MS = 86_400_000;
/** Longer than the pause between two tries of a call; nothing else is awaited by who has asked something. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * Passes time on a server that skips it: only while every workflow is at rest, and never beyond the next timer of any. Left to
 * itself the server skips under tasks that are being worked on; they time out, and at times one is lost for good.
 */
export class Timekeeper {
  readonly #waits = new Map<string, Wait>();

  /** @param listWorkflowIds those that it looks after; there may be none yet of such an id */
  constructor(
    private readonly environment: TestWorkflowEnvironment,
    private readonly listWorkflowIds: () => Promise<readonly string[]>,
  ) {}

  /** Every workflow waits: nothing has happened for a moment, and nothing will before the next timer. */
  async rest(): Promise<void> {
    await until(
      () => this.#whoIsAtWork(),
      (workflowIds) => workflowIds.length === 0,
    );
  }

  /** When a workflow will do something by itself, as it was when all were last at rest. */
  nextTimerMsOf(workflowId: string): number {
    return this.#waits.get(workflowId)?.nextTimerMs ?? Infinity;
  }

  /** Lets so much time pass, from timer to timer. */
  async pass(ms: number): Promise<void> {
    const instantMs = (await this.environment.currentTimeMs()) + ms;
    do {
      await this.rest();
      await this.#skipTowards(instantMs);
    } while ((await this.environment.currentTimeMs()) < instantMs);
    await this.rest();
  }

  /** Lets time pass to the next timer, a day at most, and what it starts be done. */
  async passToNextTimer(): Promise<void> {
    await this.rest();
    await this.#skipTowards((await this.environment.currentTimeMs()) + DAY_MS);
    await this.rest();
  }

  /** Lets time pass while something waits for it. */
  async during<T>(work: Promise<T>): Promise<T> {
    const isOver = Promise.allSettled([work]).then(() => 'over' as const);
    for (;;) {
      const seen = await Promise.race([isOver, this.#whoIsAtWork()]);
      if (seen === 'over') return work;
      const nowMs = await this.environment.currentTimeMs();
      if (seen.length === 0 && this.#nextMs(nowMs) <= nowMs + LONGEST_PAUSE_MS)
        await this.#skipTowards(nowMs + LONGEST_PAUSE_MS);
    }
  }

  async #skipTowards(instantMs: number): Promise<void> {
    const nowMs = await this.environment.currentTimeMs();
    const ms = Math.min(this.#nextMs(nowMs), instantMs) - nowMs;
    if (ms > 0) await this.environment.sleep(ms);
  }

  #nextMs(nowMs: number): number {
    const waits = [...this.#waits.values()];
    const nextTryMs = waits.some(({ hasActivity }) => hasActivity) ? nowMs + NEXT_TRY_MS : Infinity;
    return Math.min(nextTryMs, ...waits.map(({ nextTimerMs }) => nextTimerMs));
  }

  /** @returns the workflows that have not been at rest, unchanged, for a moment */
  async #whoIsAtWork(): Promise<string[]> {
    const workflowIds = await this.listWorkflowIds();
    const before = await this.#look(workflowIds);
    if (before.every(({ isAtRest }) => isAtRest)) await sleep(STILL_FOR_MS);
    const after = await this.#look(workflowIds);
    return workflowIds.filter((_, at) => !after[at]?.isAtRest || after[at].eventCount !== before[at]?.eventCount);
  }

  #look(workflowIds: readonly string[]): Promise<Wait[]> {
    return Promise.all(workflowIds.map((workflowId) => this.#lookAt(workflowId)));
  }

  async #lookAt(workflowId: string): Promise<Wait> {
    const known = this.#waits.get(workflowId);
    // Late money may come again, to a new run.
    if (known?.hasEnded && workflowId.startsWith('payment-')) return known;
    const wait = await this.#waitOf(workflowId);
    this.#waits.set(workflowId, wait);
    return wait;
  }

  async #waitOf(workflowId: string): Promise<Wait> {
    try {
      const { events } = await this.environment.client.workflow.getHandle(workflowId).fetchHistory();
      return waitIn(events ?? []);
    } catch (error) {
      if (!isGrpcServiceError(error) || error.code !== status.NOT_FOUND) throw error;
      return NOT_STARTED;
    }
  }
}

type Events = NonNullable<
  Awaited<ReturnType<ReturnType<TestWorkflowEnvironment['client']['workflow']['getHandle']>['fetchHistory']>>['events']
>;

function waitIn(events: Events): Wait {
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
  const hasEnded = Boolean(last?.workflowExecutionCompletedEventAttributes);
  return {
    eventCount: events.length,
    hasEnded,
    isAtRest: !last?.workflowTaskScheduledEventAttributes && !last?.workflowTaskStartedEventAttributes,
    nextTimerMs: hasEnded ? Infinity : Math.min(...timers.values()),
    hasActivity: activities.size > 0,
  };
}

function milliseconds(of: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(of?.seconds ?? 0) * 1_000 + (of?.nanos ?? 0) / 1_000_000;
}
