import type { ActivityOptions, SearchAttributeUpdatePair } from '@temporalio/common';
import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { Correlation } from '../src/domain/correlation';
import { expiryOf, type PaymentState, type PaymentTerms } from '../src/domain/payment';
import { rejectionReason, type PaymentAction } from '../src/domain/payment-actions';
import { isFinal } from '../src/domain/payment-transitions';
import type { CreationResult, StepInput, StepResult } from '../src/domain/workflow-step';
import { SEARCH_ATTRIBUTES, type PaymentWorkflowStatus } from './messages';
import { OperatorView } from './operator-view';
import { regularActivities } from './regular-activities';
import type { RequestQueue } from './request-queue';
import { LOCAL_ACTIVITY_OPTIONS, UNLIMITED_RETRY } from './retry-policies';
import { runStep } from './run-step';

/** The activities of a payment, each with its summary in the Web UI. */
export const ACTIVITY_SUMMARIES = {
  openPayment: 'request the QR code from the provider',
  failUnissuedPayment: 'verify that the provider issued no QR code',
  confirmPaid: 'query the provider: is the order paid?',
  expirePayment: 'expire the order at the provider',
  cancelPayment: 'cancel the order at the provider',
  failPayment: 'query the provider, then fail the payment',
  syncPaidPayment: 'query the provider: is the order still paid?',
  requestRefund: 'open the refund and hold it',
  cancelRefund: 'cancel the held refund',
  submitRefund: 'record that the refund goes to the provider',
  refundPayment: 'request the refund from the provider',
  syncFailedRefund: 'query the provider: is the rejected refund confirmed?',
  retryRefund: 'open the next refund',
  resolveRefundAsRefunded: 'record that the customer has the money',
  resolveRefundAsPaid: 'abandon the refund if the provider shows none',
  settlePayment: 'make the net amount available',
  expireNow: 'expire the order at the provider before its deadline',
  settleNow: 'make the net amount available before its time',
  submitRefundNow: 'end the hold of the refund',
} as const satisfies Partial<Record<keyof Activities, string>>;

/** The steps of a payment whose row has no result of its creation. */
const CREATION_STEPS: ReadonlySet<PaymentStep> = new Set(['openPayment', 'failUnissuedPayment']);

export type PaymentStep = keyof typeof ACTIVITY_SUMMARIES;

interface StepOptions extends Pick<StepInput, 'by'> {
  readonly correlation?: Correlation | undefined;
  readonly regularOptions?: ActivityOptions;
}

/** Where a new run starts: at the state in PostgreSQL if Temporal lost the workflow, else at that of the run before. */
export interface ResumeState {
  readonly state: PaymentState;
  readonly createdAtMs: number;
  /** Absent before the provider issued the QR code or rejected the order. */
  readonly creation?: CreationResult;
  /** Why the run before needed attention. */
  readonly attentionReason?: string;
  /** The run before has seen that PostgreSQL lost a refund. */
  readonly hasLostRefund?: true;
}

/** The state of one run of a payment's workflow, and the steps that change it. */
export class PaymentRun {
  readonly expiresAtMs: number;
  readonly view: OperatorView;
  readonly #queue: RequestQueue<PaymentAction>;
  #state: PaymentState;
  #hasLostRefund: boolean;
  #isMerchantOnHold = false;
  #creation: CreationResult | undefined;
  #waitingFor = 'the provider to issue the QR code';
  readonly #createdAtMs: number;

  constructor(
    readonly terms: PaymentTerms,
    queue: RequestQueue<PaymentAction>,
    resumeState?: ResumeState,
  ) {
    this.#queue = queue;
    this.#createdAtMs = resumeState?.createdAtMs ?? workflowInfo().startTime.getTime();
    this.expiresAtMs = expiryOf(this.#createdAtMs, terms);
    this.#state = resumeState?.state ?? { status: 'created', version: 0 };
    this.#creation = resumeState?.creation;
    this.#hasLostRefund = resumeState?.hasLostRefund ?? false;
    const headline = () => `**${this.#state.status}**, waiting for ${this.#waitingFor}.`;
    this.view = new OperatorView(headline, resumeState?.attentionReason);
  }

  get state(): PaymentState {
    return this.#state;
  }

  /** The last step was a settlement, and the merchant is on hold. */
  get isMerchantOnHold(): boolean {
    return this.#isMerchantOnHold;
  }

  /** PostgreSQL has lost a refund that was requested. */
  get hasLostRefund(): boolean {
    return this.#hasLostRefund;
  }

  /** The lost refund is requested again, or the provider has it. */
  forgetLostRefund(): void {
    this.#hasLostRefund = false;
  }

  /** Why the action is not possible now, in words for the caller; null if it is. */
  rejectionReason(action: PaymentAction): string | null {
    return rejectionReason(action, this.terms, this.#state, this.#queue.clock.nowMs);
  }

  /**
   * Performs a step in a local activity and, if that fails, in a regular one until it succeeds. A request to fail the
   * payment interrupts the retries.
   * @returns why the step was rejected; null if it was not
   */
  async perform(
    step: PaymentStep,
    { by, correlation, regularOptions = UNLIMITED_RETRY }: StepOptions = {},
  ): Promise<string | null> {
    const { terms, state } = this;
    const input: StepInput = {
      terms,
      state,
      atMs: this.#queue.clock.nowMs,
      createdAtMs: this.#createdAtMs,
      ...(by && { by }),
      ...(correlation && { correlation }),
      ...(CREATION_STEPS.has(step) && this.#creation && { creation: this.#creation }),
    };
    const summary = `${terms.referenceId}: ${ACTIVITY_SUMMARIES[step]}`;
    const waitingFor = this.#waitingFor;
    const localActivities = proxyLocalActivities<Activities>({ ...LOCAL_ACTIVITY_OPTIONS, summary });
    const result = await runStep({
      local: () => localActivities[step](input),
      regular: (before) => regularActivities({ ...regularOptions, summary, ...before })[step](input),
      onRetrying: () => this.#showRetrying(step),
      isInterrupted: () => this.#queue.hasRequest('fail'),
    });
    if (result === null) return null;
    // It is no longer the step that was retried.
    this.#waitingFor = waitingFor;
    if (result.state.version < state.version) this.#resumeFromOlderState(state);
    this.#creation = result.creation ?? this.#creation;
    this.#applyResult(result);
    return result.rejection ?? null;
  }

  setWaitingFor(what: string, untilMs?: number): void {
    this.#waitingFor = untilMs === undefined ? what : `${what} (until ${new Date(untilMs).toISOString()})`;
    this.view.updateDetails();
  }

  workflowStatus(): PaymentWorkflowStatus {
    const { status, version, settlesAtMs, refund = null } = this.#state;
    return {
      status,
      version,
      waitingFor: this.#waitingFor,
      expiresAt: new Date(this.expiresAtMs).toISOString(),
      settlesAt: settlesAtMs === undefined ? null : new Date(settlesAtMs).toISOString(),
      attentionReason: this.view.attentionReason,
      refund,
    };
  }

  toResumeState(): ResumeState {
    const { attentionReason } = this.view;
    return {
      state: this.#state,
      createdAtMs: this.#createdAtMs,
      ...(this.#creation && { creation: this.#creation }),
      ...(attentionReason !== null && { attentionReason }),
      ...(this.#hasLostRefund && { hasLostRefund: true }),
    };
  }

  /**
   * PostgreSQL was restored to an earlier time: only the provider has what happened since. A refund that a merchant
   * received 200 for is requested again, unless the provider has it.
   */
  #resumeFromOlderState({ status }: PaymentState): void {
    this.#queue.addProviderUpdate();
    this.#hasLostRefund = status === 'refund_processing' || status === 'refund_failed';
  }

  #showRetrying(step: PaymentStep): void {
    const summary = ACTIVITY_SUMMARIES[step];
    this.#waitingFor = `a step that is being retried: ${summary}`;
    const attentionReason = `A step is being retried: ${summary}. Its pending activity shows why it fails.`;
    this.#applyResult({ state: this.#state, attentionReason });
  }

  #applyResult(result: StepResult): void {
    const { status: before } = this.#state;
    this.#state = { ...this.#state, ...result.state };
    this.#isMerchantOnHold = result.isMerchantOnHold ?? false;
    const { status } = this.#state;
    const changes: SearchAttributeUpdatePair[] = [];
    if (status !== before) changes.push({ key: SEARCH_ATTRIBUTES.paymentStatus, value: status });
    if (status === 'pending' && before !== 'pending') {
      changes.push({ key: SEARCH_ATTRIBUTES.expiresAt, value: new Date(this.expiresAtMs) });
    }
    if (isFinal(status)) this.#waitingFor = 'nothing: the payment is final';
    const rejectedRefund = status === 'refund_failed' ? 'the provider rejected the refund' : null;
    this.view.setAttention(result.attentionReason ?? rejectedRefund, changes);
  }
}
