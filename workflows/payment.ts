import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { formatRupiah } from '../src/domain/money';
import { OPERATOR_STEPS } from '../src/domain/operator-steps';
import type { PaymentTerms } from '../src/domain/payment';
import { MERCHANT, ruleFor, type PaymentAction } from '../src/domain/payment-actions';
import { isFinal, type OpenStatus, type PaymentStatus } from '../src/domain/payment-transitions';
import { authentic } from './authentic';
import { handlePaymentMessages } from './payment-messages';
import { ACTIVITY_SUMMARIES, PaymentRun, type PaymentStep, type ResumeState } from './payment-run';
import { RequestQueue, type QueuedRequest } from './request-queue';
import {
  ACTIVITY_TIMEOUT_MS,
  DAY_MS,
  exponentialBackoff,
  HOUR_MS,
  MAX_HISTORY_EVENTS,
  MINUTE_MS,
  QRIS_ISSUE_RETRY,
  SECOND_MS,
} from './retry-policies';
import { forceSingleBatchActivation } from './sdk-single-batch-flag';

/** The delays between status queries if the provider still reports an order as pending after its notification. */
const STATUS_POLL_DELAYS_MS = [1, 2, 5, 10, 30, 60].map((seconds) => seconds * SECOND_MS);

/** The delays between status queries while the provider has not decided. The queries have no limit. */
const EXPIRY_POLL_BACKOFF = { initialMs: MINUTE_MS, maxMs: 6 * HOUR_MS } as const;
const REFUND_POLL_BACKOFF = { initialMs: SECOND_MS, maxMs: DAY_MS } as const;

/**
 * If a caller waits for a final status, the provider notifies about that status too. A message that arrives while a
 * workflow completes fails the workflow task, and with it the caller's result. So the workflow completes later.
 */
const COMPLETION_DELAY_MS = SECOND_MS;

/**
 * The lifecycle of one payment, from the merchant's request to a final status. Temporal's cancellation has no effect:
 * the workflow completes only when the provider's decision about the money is recorded.
 */
export function payment(terms: PaymentTerms, resumeState?: ResumeState): Promise<PaymentStatus> {
  return CancellationScope.nonCancellable(async () => {
    forceSingleBatchActivation();
    return new PaymentWorkflow(authentic(terms), resumeState && authentic(resumeState)).run();
  });
}

/** The workflow of one payment: a method for each open status, which returns if the status or the queue has changed. */
class PaymentWorkflow {
  readonly #terms: PaymentTerms;
  readonly #payment: PaymentRun;
  readonly #queue = new RequestQueue<PaymentAction>();
  readonly #statusHandlers: Readonly<Record<OpenStatus, () => Promise<unknown>>> = {
    created: () => this.#issueQris(),
    pending: () => this.#awaitPayment(),
    paid: () => this.#awaitSettlement(),
    refund_processing: () => this.#processRefund(),
    refund_failed: () => this.#awaitRefundResolution(),
  };
  readonly #nextExpiryDelayMs = exponentialBackoff(EXPIRY_POLL_BACKOFF);
  readonly #nextPaidQueryDelayMs = exponentialBackoff(REFUND_POLL_BACKOFF);
  #nextRefundDelayMs = exponentialBackoff(REFUND_POLL_BACKOFF);

  constructor(terms: PaymentTerms, resumeState?: ResumeState) {
    this.#terms = terms;
    this.#payment = new PaymentRun(terms, this.#queue, resumeState);
    handlePaymentMessages(this.#payment, this.#queue);
  }

  get #nowMs(): number {
    return this.#queue.clock.nowMs;
  }

  async run(): Promise<PaymentStatus> {
    let hasWaitingCaller = false;
    for (let { status } = this.#payment.state; isOpen(status); { status } = this.#payment.state) {
      if (this.#isHistoryLong()) return continueAsNew<typeof payment>(this.#terms, this.#payment.toResumeState());
      const request = this.#queue.takeRequest();
      hasWaitingCaller = request !== undefined || status === 'created';
      await (request ? this.#handleRequest(request) : this.#statusHandlers[status]());
    }
    await this.#complete(hasWaitingCaller);
    return this.#payment.state.status;
  }

  /** If the provider's outcome stays indeterminate, the payment fails once the provider reports no open order. */
  async #issueQris(): Promise<void> {
    try {
      await this.#payment.perform('openPayment', { regularOptions: QRIS_ISSUE_RETRY });
    } catch {
      await sleep(ACTIVITY_TIMEOUT_MS, { summary: 'no attempt is in flight' });
      this.#payment.setWaitingFor('the provider to report that it issued no QR code');
      await this.#payment.perform('failUnissuedPayment');
    }
  }

  /** Until the customer pays or the QR code expires. Only the provider's status decides which of the two. */
  async #awaitPayment(): Promise<unknown> {
    const { expiresAtMs } = this.#payment;
    const leftMs = expiresAtMs - this.#nowMs;
    if (this.#queue.takeProviderUpdate()) return this.#pollProvider();
    if (leftMs > 0) {
      this.#payment.setWaitingFor(`the customer to pay ${formatRupiah(this.#terms.totalRupiah)}`, expiresAtMs);
      return this.#queue.wait({ afterMs: leftMs, summary: 'the QR code expires' });
    }
    this.#payment.setWaitingFor('the provider to confirm that the QR code expired unpaid');
    await this.#payment.perform('expirePayment');
    return this.#payment.state.status === 'pending' ? this.#waitForQuery(this.#nextExpiryDelayMs()) : undefined;
  }

  async #pollProvider(): Promise<void> {
    this.#payment.setWaitingFor('the provider to confirm the payment');
    for (const delayMs of STATUS_POLL_DELAYS_MS) {
      await this.#queryProvider('confirmPaid');
      if (this.#payment.state.status !== 'pending' || this.#payment.view.attentionReason !== null) return;
      await this.#waitForQuery(Math.min(delayMs, Math.max(this.#payment.expiresAtMs - this.#nowMs, SECOND_MS)));
      if (this.#queue.hasRequests) return;
    }
  }

  /** After the settlement delay of the captured policy the net amount becomes available to the merchant. */
  async #awaitSettlement(): Promise<unknown> {
    const nowMs = this.#nowMs;
    const { settlesAtMs: dueAtMs = nowMs } = this.#payment.state;
    const leftMs = dueAtMs - nowMs;
    const isAutomatic = this.#terms.settlementKind === 'automatic';
    if (this.#queue.takeProviderUpdate()) return this.#syncPaidPayment();
    if (isAutomatic && this.#payment.isMerchantOnHold) return this.#awaitRelease();
    if (this.#payment.view.attentionReason !== null || this.#payment.hasLostRefund) {
      await this.#waitForQuery(this.#nextPaidQueryDelayMs());
      return this.#queue.hasRequests ? undefined : this.#syncPaidPayment();
    }
    if (leftMs > 0) {
      this.#payment.setWaitingFor('the settlement delay to pass', dueAtMs);
      return this.#queue.wait({ afterMs: leftMs, summary: 'the settlement delay is over' });
    }
    if (isAutomatic) return this.#payment.perform('settlePayment');
    this.#payment.setWaitingFor(OPERATOR_STEPS.settle);
    return this.#queue.wait();
  }

  /** The release wakes the workflow, which then queries the provider once. A lost signal costs an hour. */
  async #awaitRelease(): Promise<void> {
    this.#payment.setWaitingFor(OPERATOR_STEPS.releaseMerchant);
    const hasMessage = await this.#queue.wait({ afterMs: HOUR_MS, summary: 'is the merchant still on hold?' });
    if (!hasMessage) await this.#payment.perform('settlePayment');
  }

  async #syncPaidPayment(): Promise<void> {
    await this.#queryProvider('syncPaidPayment');
    const isPaid = this.#payment.state.status === 'paid';
    if (!this.#payment.hasLostRefund || (isPaid && this.#payment.view.attentionReason !== null)) return;
    this.#payment.forgetLostRefund();
    if (isPaid) this.#queue.addWithoutCaller('refund', { ...MERCHANT, note: 'requested again' });
  }

  /**
   * The refund is held, then submitted. After that the provider is queried until the refund is confirmed or rejected.
   */
  async #processRefund(): Promise<unknown> {
    const { refund } = this.#payment.state;
    if (refund?.status === 'held') return this.#holdRefund(refund.submitAtMs);
    this.#payment.setWaitingFor('the provider to confirm the refund');
    await this.#queryProvider('refundPayment');
    if (this.#payment.state.status === 'refund_processing') return this.#waitForQuery(this.#nextRefundDelayMs());
    this.#nextRefundDelayMs = exponentialBackoff(REFUND_POLL_BACKOFF);
    return undefined;
  }

  /** A held refund can be cancelled. A provider update makes the workflow catch up with PostgreSQL. */
  async #holdRefund(submitAtMs: number): Promise<void> {
    const leftMs = submitAtMs - this.#nowMs;
    this.#payment.setWaitingFor('the hold of the refund to pass', submitAtMs);
    if (leftMs <= 0) {
      await this.#payment.perform('submitRefund');
      if (this.#payment.state.refund?.status === 'held') await this.#waitForQuery(this.#nextRefundDelayMs());
    } else if (this.#queue.takeProviderUpdate()) {
      await this.#queryProvider('refundPayment');
    } else {
      await this.#queue.wait({ afterMs: leftMs, summary: 'the hold of the refund is over' });
    }
  }

  /** An operator resolves the rejected refund, unless the provider confirms it after all. */
  async #awaitRefundResolution(): Promise<unknown> {
    this.#payment.setWaitingFor(OPERATOR_STEPS.resolveRefund);
    return this.#queue.takeProviderUpdate() ? this.#queryProvider('syncFailedRefund') : this.#queue.wait();
  }

  /** Requests are handled one by one. Each is checked against the state at that time. */
  async #handleRequest({ action, actor, correlation, complete }: QueuedRequest<PaymentAction>): Promise<void> {
    const rule = ruleFor(action, this.#payment.state);
    let rejection = this.#payment.rejectionReason(action);
    if (rule && rejection === null) {
      this.#payment.setWaitingFor(`the requested step: ${ACTIVITY_SUMMARIES[rule.step]}`);
      rejection = await this.#payment.perform(rule.step, { by: actor, correlation });
      if (this.#payment.state.status !== rule.to)
        rejection ??= this.#payment.rejectionReason(action) ?? 'The provider did not do it.';
    }
    this.#payment.view.lastRejection = rejection;
    complete(rejection);
    this.#payment.view.updateDetails();
  }

  /** The result of the step covers every provider update that came before it. */
  #queryProvider(step: PaymentStep): Promise<unknown> {
    this.#queue.takeProviderUpdate();
    return this.#payment.perform(step);
  }

  /** Unless a request or a provider update comes first. */
  #waitForQuery(afterMs: number): Promise<unknown> {
    return this.#queue.wait({ afterMs, summary: 'the next status query' });
  }

  /** A provider update that is not handled yet is not lost: the sweeper signals the next run. */
  #isHistoryLong(): boolean {
    return workflowInfo().historyLength >= MAX_HISTORY_EVENTS && !this.#queue.hasRequests && allHandlersFinished();
  }

  /** The payment is final: what is still in the queue is rejected, and every caller gets its result. */
  async #complete(hasWaitingCaller: boolean): Promise<void> {
    // No provider notifies about a settlement.
    const isDelayed = this.#payment.state.status !== 'settled' && (hasWaitingCaller || this.#queue.hasRequests);
    if (isDelayed) await sleep(COMPLETION_DELAY_MS, { summary: 'handle late messages' });
    for (let request = this.#queue.takeRequest(); request; request = this.#queue.takeRequest()) {
      request.complete(this.#payment.rejectionReason(request.action));
    }
    await condition(allHandlersFinished);
  }
}

function isOpen(status: PaymentStatus): status is OpenStatus {
  return !isFinal(status);
}
