import type { FakeOrder } from './fake-acquirer';

/** What a merchant, an operator, the acquirer or its customer does. */
export const MESSAGES = [
  'pay',
  'payWithoutNotification',
  'notify',
  'cancel',
  'refund',
  'settle',
  'retryRefund',
  'resolveRefundAsPaid',
  'resolveRefundAsRefunded',
  'denyManually',
  'cancelManually',
  'refundManually',
  'fail',
  'changeAmount',
  'removeOrder',
] as const;
export type Message = (typeof MESSAGES)[number];

/** The timestamps in a payment's row, Unix time in milliseconds. */
export interface Deadlines {
  readonly expiresAtMs: number;
  readonly settlesAtMs: number | null;
  readonly submitAtMs: number | null;
}

export type ModelResult = 'done' | 'rejected';

interface ModelOptions {
  readonly provider: 'gopay' | 'shopeepay';
  readonly isManual: boolean;
  readonly totalRupiah: number;
  readonly rejectsRefunds: () => boolean;
  /** Null before there is one. */
  readonly order: () => FakeOrder | null;
}

const FINAL = new Set(['expired', 'settled', 'failed', 'cancelled', 'refunded']);

/**
 * The contract's payment in minimal form: its status, the transitions that led there, and the effect of each message
 * and of time. Independent of the workflows; comparable only while all of them are idle.
 */
export class ReferenceModel {
  status = 'created';
  readonly steps: string[] = ['create'];
  /** An operator refunded the customer outside the acquirer. */
  isManuallyRefunded = false;
  private isHeld = false;

  constructor(private readonly options: ModelOptions) {}

  get isFinal(): boolean {
    return FINAL.has(this.status);
  }

  get isPaidAtAcquirer(): boolean {
    return this.options.order()?.status === 'paid';
  }

  get canPay(): boolean {
    return this.options.order()?.status === 'pending';
  }

  /** The creation is complete. */
  opened(as: 'issued' | 'rejected'): void {
    if (as === 'issued') this.go('issue', 'pending');
    else this.go('fail_creation', 'failed');
  }

  /**
   * Called after the effect of the message at the acquirer.
   * @returns null if the message has no result
   */
  receive(message: Message, nowMs: number, deadlines: Deadlines): ModelResult | null {
    switch (message) {
      case 'payWithoutNotification':
      case 'changeAmount':
      case 'removeOrder':
        return null;
      case 'pay':
      case 'notify':
      case 'denyManually':
      case 'cancelManually':
      case 'refundManually':
        this.handleNotification();
        return null;
      case 'cancel':
        return this.cancel();
      case 'refund':
        if (this.status !== 'paid' || this.options.provider !== 'gopay') return 'rejected';
        this.go('request_refund', 'refund_processing');
        this.isHeld = true;
        return 'done';
      case 'settle':
        if (this.status !== 'paid' || nowMs < (deadlines.settlesAtMs ?? 0)) return 'rejected';
        this.go('settle', 'settled');
        return 'done';
      case 'fail':
        return this.fail();
      case 'retryRefund':
        if (this.status !== 'refund_failed') return 'rejected';
        this.go('retry_refund', 'refund_processing');
        this.submitRefund();
        return 'done';
      case 'resolveRefundAsPaid':
        if (this.status !== 'refund_failed') return 'rejected';
        this.go('resolve_refund_as_paid', 'paid');
        return 'done';
      case 'resolveRefundAsRefunded':
        if (this.status !== 'refund_failed') return 'rejected';
        this.isManuallyRefunded = true;
        this.go('resolve_refund_as_refunded', 'refunded');
        return 'done';
    }
  }

  /** Time has passed. */
  advance(nowMs: number, { expiresAtMs, settlesAtMs, submitAtMs }: Deadlines): void {
    if (this.status === 'pending' && nowMs > expiresAtMs && !this.isUnknownToProvider) this.expireAtDeadline();
    if (this.status === 'refund_processing' && this.isHeld && submitAtMs !== null && nowMs > submitAtMs)
      this.submitRefund();
    if (this.status === 'paid' && !this.options.isManual && settlesAtMs !== null && nowMs > settlesAtMs) {
      this.go('settle', 'settled');
    }
  }

  private handleNotification(): void {
    const providerStatus = this.options.order()?.status;
    if (this.status === 'pending') {
      if (!this.hasOtherAmount && (providerStatus === 'paid' || providerStatus === 'refunded')) this.recordPaid();
      if (providerStatus === 'denied') this.go('fail', 'failed');
      if (providerStatus === 'cancelled') this.go('cancel', 'cancelled');
    } else if (this.status === 'paid' && providerStatus === 'refunded') {
      this.go('request_refund', 'refund_processing');
      this.submitRefund();
    } else if (this.status === 'refund_failed' && providerStatus === 'refunded') {
      this.go('confirm_failed_refund', 'refunded');
    }
  }

  /** The acquirer has lost the order of a pending payment: only an operator can fail the payment. */
  get isUnknownToProvider(): boolean {
    return this.status === 'pending' && this.options.order() === null;
  }

  private get hasOtherAmount(): boolean {
    const order = this.options.order();
    return order !== null && order.totalRupiah !== this.options.totalRupiah;
  }

  /** A refund that was made before the payment was recorded is recorded with it. */
  private recordPaid(): void {
    this.go('pay', 'paid');
    if (this.options.order()?.status !== 'refunded') return;
    this.go('request_refund', 'refund_processing');
    this.submitRefund();
  }

  /** Money over another amount does not pay it: the payment fails, and the money is a late payment. */
  private expireAtDeadline(): void {
    if (this.hasOtherAmount && this.options.order()?.paidAt) this.go('fail', 'failed');
    else this.closeUnpaid('expire', 'expired');
  }

  private fail(): ModelResult {
    if (this.status !== 'pending') return 'rejected';
    const order = this.options.order();
    if (order === null || (order.paidAt && this.hasOtherAmount)) {
      this.go('fail', 'failed');
      return 'done';
    }
    this.handleNotification();
    return order.status === 'denied' ? 'done' : 'rejected';
  }

  private cancel(): ModelResult {
    if (this.options.provider !== 'gopay') return 'rejected';
    if (this.status === 'pending') return this.closeUnpaid('cancel', 'cancelled');
    if (this.status !== 'refund_processing' || !this.isHeld) return 'rejected';
    this.go('cancel_refund', 'paid');
    return 'done';
  }

  /** If the customer paid first, the payment is paid. */
  private closeUnpaid(step: 'expire' | 'cancel', status: string): ModelResult {
    const order = this.options.order();
    if (order === null || (order.paidAt && this.hasOtherAmount)) return 'rejected';
    if (order.paidAt) {
      this.recordPaid();
      return 'rejected';
    }
    this.go(step, status);
    return 'done';
  }

  private submitRefund(): void {
    this.isHeld = false;
    this.go('submit_refund', 'refund_processing');
    const isRefunded = this.options.order()?.status === 'refunded';
    if (this.options.rejectsRefunds() && !isRefunded) this.go('fail_refund', 'refund_failed');
    else this.go('confirm_refund', 'refunded');
  }

  private go(step: string, status: string): void {
    this.steps.push(step);
    this.status = status;
  }
}
