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
import { MERCHANT, ruleFor } from '../src/domain/payment-actions';
import { isFinal, type OpenStatus, type PaymentStatus } from '../src/domain/payment-transitions';
import { authentic } from './authentic';
import type { QueuedRequest } from './payment-messages';
import { ACTIVITY_SUMMARIES, PaymentRun, type ResumeState } from './payment-run';
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

class PaymentWorkflow extends PaymentRun {
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

  async run(): Promise<PaymentStatus> {
    let hasWaitingCaller = false;
    for (let { status } = this.state; isOpen(status); { status } = this.state) {
      if (this.#isHistoryLong()) return continueAsNew<typeof payment>(this.terms, this.toResumeState());
      const request = this.messages.nextRequest();
      hasWaitingCaller = request !== undefined || status === 'created';
      await (request ? this.#handleRequest(request) : this.#statusHandlers[status]());
    }
    // No provider notifies about a settlement.
    const delaysCompletion = this.state.status !== 'settled' && (hasWaitingCaller || this.messages.hasRequests);
    if (delaysCompletion) await sleep(COMPLETION_DELAY_MS, { summary: 'handle late messages' });
    this.messages.rejectAll();
    await condition(allHandlersFinished);
    return this.state.status;
  }

  /** A provider update that is not handled yet is not lost: the sweeper signals the next run. */
  #isHistoryLong(): boolean {
    return workflowInfo().historyLength >= MAX_HISTORY_EVENTS && !this.messages.hasRequests && allHandlersFinished();
  }

  /** Requests are handled one by one. Each is checked against the state at that time. */
  async #handleRequest({ action, actor, correlation, complete }: QueuedRequest): Promise<void> {
    const rule = ruleFor(action, this.state);
    let rejection = this.messages.rejectionReason(action);
    if (rule && rejection === null) {
      this.setWaitingFor(`the requested step: ${ACTIVITY_SUMMARIES[rule.step]}`);
      rejection = await this.runStep(rule.step, { by: actor, correlation });
      if (this.state.status !== rule.to)
        rejection ??= this.messages.rejectionReason(action) ?? 'The provider did not do it.';
    }
    this.view.lastRejection = rejection;
    complete(rejection);
    this.view.updateDetails();
  }

  /** If the provider's outcome stays indeterminate, the payment fails once the provider reports no open order. */
  async #issueQris(): Promise<void> {
    try {
      await this.runStep('openPayment', { regularOptions: QRIS_ISSUE_RETRY });
    } catch {
      await sleep(ACTIVITY_TIMEOUT_MS, { summary: 'no attempt is in flight' });
      this.setWaitingFor('the provider to report that it issued no QR code');
      await this.runStep('failUnissuedPayment');
    }
  }

  /** Until the customer pays or the QR code expires. Only the provider's status decides which of the two. */
  async #awaitPayment(): Promise<void> {
    const leftMs = this.expiresAtMs - Date.now();
    if (this.messages.hasProviderUpdate) return this.#pollProvider();
    if (leftMs > 0) {
      this.setWaitingFor(`the customer to pay ${formatRupiah(this.terms.totalRupiah)}`, this.expiresAtMs);
      return this.messages.wait({ afterMs: leftMs, summary: 'the QR code expires' });
    }
    this.setWaitingFor('the provider to confirm that the QR code expired unpaid');
    await this.runStep('expirePayment');
    if (this.state.status === 'pending') await this.#waitForQuery(this.#nextExpiryDelayMs());
  }

  async #pollProvider(): Promise<void> {
    this.setWaitingFor('the provider to confirm the payment');
    for (const delayMs of STATUS_POLL_DELAYS_MS) {
      this.messages.hasProviderUpdate = false;
      await this.runStep('confirmPaid');
      if (this.state.status !== 'pending' || this.view.attentionReason !== null) return;
      await this.#waitForQuery(Math.min(delayMs, Math.max(this.expiresAtMs - Date.now(), SECOND_MS)));
      if (this.messages.hasRequests) return;
    }
  }

  /** After the settlement delay of the captured policy the net amount becomes available to the merchant. */
  async #awaitSettlement(): Promise<unknown> {
    const { settlesAtMs: dueAtMs = Date.now() } = this.state;
    const leftMs = dueAtMs - Date.now();
    const isAutomatic = this.terms.settlementKind === 'automatic';
    if (isAutomatic && this.isMerchantHeld && !this.messages.hasProviderUpdate) return this.#awaitRelease();
    if (this.messages.hasProviderUpdate || this.view.attentionReason !== null || this.hasLostRefund) {
      if (!this.messages.hasProviderUpdate) await this.#waitForQuery(this.#nextPaidQueryDelayMs());
      return this.messages.hasRequests ? undefined : this.#syncPaidPayment();
    }
    if (leftMs > 0) {
      this.setWaitingFor('the settlement delay to pass', dueAtMs);
      return this.messages.wait({ afterMs: leftMs, summary: 'the settlement delay is over' });
    }
    if (isAutomatic) return this.runStep('settlePayment');
    this.setWaitingFor(OPERATOR_STEPS.settle);
    return this.messages.wait();
  }

  /** The release wakes the workflow, which then queries the provider once. A lost signal costs an hour. */
  async #awaitRelease(): Promise<void> {
    this.setWaitingFor(OPERATOR_STEPS.releaseMerchant);
    await this.messages.wait({ afterMs: HOUR_MS, summary: 'is the merchant still on hold?' });
    if (!this.messages.hasRequests && !this.messages.hasProviderUpdate) await this.runStep('settlePayment');
  }

  async #syncPaidPayment(): Promise<void> {
    this.messages.hasProviderUpdate = false;
    await this.runStep('syncPaidPayment');
    if (this.state.status !== 'paid') this.hasLostRefund = false;
    if (!this.hasLostRefund || this.view.attentionReason !== null) return;
    this.hasLostRefund = false;
    this.messages.enqueueWithoutCaller('refund', { ...MERCHANT, note: 'requested again' });
  }

  /**
   * The refund is held, then submitted. After that the provider is queried until the refund is confirmed or rejected.
   */
  async #processRefund(): Promise<void> {
    const { refund } = this.state;
    if (refund?.status === 'held') return this.#holdRefund(refund.submitAtMs);
    this.setWaitingFor('the provider to confirm the refund');
    this.messages.hasProviderUpdate = false;
    await this.runStep('refundPayment');
    if (this.state.status === 'refund_processing') return this.#waitForQuery(this.#nextRefundDelayMs());
    this.#nextRefundDelayMs = exponentialBackoff(REFUND_POLL_BACKOFF);
  }

  /** A held refund can be cancelled. A provider update makes the workflow catch up with PostgreSQL. */
  async #holdRefund(submitAtMs: number): Promise<void> {
    const leftMs = submitAtMs - Date.now();
    this.setWaitingFor('the hold of the refund to pass', submitAtMs);
    if (leftMs <= 0) {
      await this.runStep('submitRefund');
      if (this.state.refund?.status === 'held') await this.#waitForQuery(this.#nextRefundDelayMs());
    } else if (this.messages.hasProviderUpdate) {
      this.messages.hasProviderUpdate = false;
      await this.runStep('refundPayment');
    } else {
      await this.messages.wait({ afterMs: leftMs, summary: 'the hold of the refund is over' });
    }
  }

  /** Unless a request or a provider update comes first. */
  #waitForQuery(afterMs: number): Promise<void> {
    return this.messages.wait({ afterMs, summary: 'the next status query' });
  }

  /** An operator resolves the rejected refund, unless the provider confirms it after all. */
  async #awaitRefundResolution(): Promise<void> {
    this.setWaitingFor(OPERATOR_STEPS.resolveRefund);
    if (!this.messages.hasProviderUpdate) return this.messages.wait();
    this.messages.hasProviderUpdate = false;
    await this.runStep('syncFailedRefund');
  }
}

function isOpen(status: PaymentStatus): status is OpenStatus {
  return !isFinal(status);
}
