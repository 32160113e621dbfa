import { RetryState, type SearchAttributeUpdatePair } from '@temporalio/common';
import { ActivityFailure, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { StepActor } from '../src/domain/actor';
import type { PayoutState, PayoutTerms } from '../src/domain/payout';
import type { PayoutAction, PayoutResolution } from '../src/domain/payout-actions';
import type { PayoutInput, PayoutRequestResult, PayoutStepInput, PayoutStepResult } from '../src/domain/payout-step';
import { isResting } from '../src/domain/payout-transitions';
import { authentic } from './authentic';
import { SEARCH_ATTRIBUTES, type PayoutWorkflowStatus } from './messages';
import { OperatorView } from './operator-view';
import { regularActivities } from './regular-activities';
import type { RequestQueue } from './request-queue';
import { HOUR_MS, LOCAL_ACTIVITY_OPTIONS, MINUTE_MS, SECOND_MS, UNLIMITED_RETRY } from './retry-policies';
import { runStep } from './run-step';

/** The activities of a payout that has its row, each with its summary in the Web UI. */
const ACTIVITY_SUMMARIES = {
  approvePayout: 'approve the payout',
  cancelPayout: 'cancel the payout and release its money',
  submitPayout: 'send the payout to the bank',
  syncPayout: 'query the bank: is the payout executed?',
  resendPayout: 'send the payout to the bank again',
  resolvePayout: 'record what an operator knows of the payout',
} as const satisfies Partial<Record<keyof Activities, string>>;
/** The steps whose only call to the bank gets the time of a regular attempt: it is not repeated. */
const SENDING_STEPS: ReadonlySet<PayoutStepName> = new Set(['submitPayout', 'resendPayout']);
const REQUEST_SUMMARY = 'reserve the balance for the payout';

/** A balance is reserved within a second. What takes longer than this is rejected, and can be requested again. */
const REQUEST_PERIOD_MS = 10 * MINUTE_MS;
/** PostgreSQL ends a statement after 15 s: then its row is there, or never will be. */
const LAST_ATTEMPT_MS = MINUTE_MS;

export type PayoutStepName = keyof typeof ACTIVITY_SUMMARIES;

export interface StepOptions {
  readonly by?: StepActor;
  readonly resolution?: PayoutResolution | undefined;
}

/** When the bank's status is queried, counted from the last permission for a call. Then each hour, without a limit. */
const QUERY_TIMES_MS = [5 * SECOND_MS, 30 * SECOND_MS, ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS)];

interface LoadedPayout {
  readonly terms: PayoutTerms;
  readonly state: PayoutState;
}

/** The state of one run of a payout's workflow, and the steps that change it. */
export class PayoutRun {
  readonly view: OperatorView;
  readonly #input: PayoutInput;
  readonly #queue: RequestQueue<PayoutAction>;
  #payout: LoadedPayout | undefined;
  #waitingFor = 'its row';
  #wasSubmitted: boolean;
  /** The next query of the bank's status; 0: now. */
  #nextQueryAtMs = 0;

  constructor(input: PayoutInput, queue: RequestQueue<PayoutAction>) {
    this.#input = input;
    this.#queue = queue;
    this.#wasSubmitted = input.wasSubmitted ?? false;
    this.view = new OperatorView(() => `**${this.#payout?.state.status ?? 'new'}**, waiting for ${this.#waitingFor}.`);
  }

  get isLoaded(): boolean {
    return this.#payout !== undefined;
  }

  /** @throws Error before `begin` has read or written the row */
  get terms(): PayoutTerms {
    return this.#loaded().terms;
  }

  /** @throws Error before `begin` has read or written the row */
  get state(): PayoutState {
    return this.#loaded().state;
  }

  /** The bank may have it: no step makes a call. */
  get wasSubmitted(): boolean {
    return this.#wasSubmitted;
  }

  /** Until the next query of the bank's status. */
  get untilQueryMs(): number {
    return this.#nextQueryAtMs - this.#queue.clock.nowMs;
  }

  /** Writes the payout's row, or reads it if there is one. */
  async begin(): Promise<PayoutRequestResult> {
    const result = await this.#requestRow();
    if (result.outcome === 'rejected') return result;
    const { terms, state } = result;
    this.#payout = { terms, state };
    this.#wasSubmitted ||= state.lastSentAtMs !== undefined;
    this.view.setAttention(null, [
      { key: SEARCH_ATTRIBUTES.referenceId, value: terms.referenceId },
      { key: SEARCH_ATTRIBUTES.payoutStatus, value: state.status },
    ]);
    return result;
  }

  /** What others wait for has a limit: a new request. After it, the row decides whether an attempt has written it. */
  async #requestRow(): Promise<PayoutRequestResult> {
    const input = { ...this.#input, atMs: this.#queue.clock.nowMs };
    const isNew = input.request !== undefined && input.lost === undefined;
    const limit = isNew ? { scheduleToCloseTimeout: REQUEST_PERIOD_MS } : {};
    const local = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, summary: REQUEST_SUMMARY });
    const last = regularActivities({ ...UNLIMITED_RETRY, summary: 'read whether the balance is reserved' });
    try {
      const result = await runStep({
        local: () => local.requestPayout(input),
        regular: (before) =>
          regularActivities({ ...UNLIMITED_RETRY, ...limit, summary: REQUEST_SUMMARY, ...before }).requestPayout(input),
        onRetrying: () => this.#showRetrying(REQUEST_SUMMARY),
        isInterrupted: () => false,
      });
      if (result === null) throw new Error('Nothing interrupts a request');
      return result;
    } catch (error) {
      if (!isNew || !isOverdue(error)) throw error;
      await sleep(LAST_ATTEMPT_MS, { summary: 'the last attempt ends' });
      return authentic(await last.requestPayout({ ...input, isOverdue: true }));
    }
  }

  /**
   * Performs a step in a local activity and, if that fails, in a regular one until it succeeds. A step that sends the
   * payout has only the regular one. A request interrupts the retries.
   * @returns null if it was interrupted
   */
  async perform(step: PayoutStepName, options: StepOptions = {}): Promise<PayoutStepResult | null> {
    const { terms, state } = this.#loaded();
    const { by, resolution } = options;
    const input: PayoutStepInput = {
      terms,
      state,
      atMs: this.#queue.clock.nowMs,
      ...(by && { by }),
      ...(resolution && { resolution }),
      ...(this.#wasSubmitted && { wasSubmitted: true }),
    };
    const summary = `${terms.referenceId}: ${ACTIVITY_SUMMARIES[step]}`;
    const local = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, summary });
    const waitingFor = this.#waitingFor;
    const result = await runStep<PayoutStepResult>({
      ...(!SENDING_STEPS.has(step) && { local: () => local[step](input) }),
      regular: (before) => regularActivities({ ...UNLIMITED_RETRY, summary, ...before })[step](input),
      onRetrying: () => this.#showRetrying(ACTIVITY_SUMMARIES[step]),
      isInterrupted: () => this.#queue.hasRequests,
    });
    this.#waitingFor = waitingFor;
    if (result !== null) this.#apply(result);
    return result;
  }

  setWaitingFor(what: string, untilMs?: number): void {
    this.#waitingFor = untilMs === undefined ? what : `${what} (until ${new Date(untilMs).toISOString()})`;
    this.view.updateDetails();
  }

  workflowStatus(): PayoutWorkflowStatus {
    const { status, version } = this.#payout?.state ?? { status: null, version: 0 };
    return { status, version, waitingFor: this.#waitingFor, attentionReason: this.view.attentionReason };
  }

  /** What the next run starts with. */
  toInput(): PayoutInput {
    const { payoutId, merchantId } = this.#input;
    return { payoutId, merchantId, ...(this.#wasSubmitted && { wasSubmitted: true }) };
  }

  #loaded(): LoadedPayout {
    if (!this.#payout) throw new Error('The payout has no row yet');
    return this.#payout;
  }

  #showRetrying(summary: string): void {
    this.#waitingFor = `a step that is being retried: ${summary}`;
    this.view.setAttention(`A step is being retried: ${summary}. Its pending activity shows why it fails.`);
  }

  #apply({ state, attentionReason, mayBeAtBank, queryNotBeforeMs = 0 }: PayoutStepResult): void {
    const { terms, state: before } = this.#loaded();
    this.#payout = { terms, state };
    this.#wasSubmitted ||= mayBeAtBank === true || state.lastSentAtMs !== undefined;
    if (state.status === 'submitted')
      this.#nextQueryAtMs = Math.max(nextQueryAtMs(state, this.#queue.clock.nowMs), queryNotBeforeMs);
    const changes: SearchAttributeUpdatePair[] = [];
    if (state.status !== before.status) changes.push({ key: SEARCH_ATTRIBUTES.payoutStatus, value: state.status });
    if (isResting(state.status)) this.#waitingFor = 'nothing: the bank or an operator may change it';
    this.view.setAttention(attentionReason ?? null, changes);
  }
}

/** No further attempt begins: the time is over, also if the last attempt has failed by itself. */
function isOverdue(error: unknown): boolean {
  return error instanceof ActivityFailure && error.retryState === RetryState.TIMEOUT;
}

function nextQueryAtMs({ lastSentAtMs }: PayoutState, nowMs: number): number {
  const sentAtMs = lastSentAtMs ?? nowMs;
  const sinceMs = nowMs - sentAtMs;
  return sentAtMs + (QUERY_TIMES_MS.find((timeMs) => timeMs > sinceMs) ?? sinceMs + HOUR_MS);
}
