import { LunasError, PaymentCancelFailedError, PaymentRefundFailedError, ScopeNotAllowedError } from './errors';
import type { HttpClient } from './http';
import { paymentPath } from './path-id';
import type { CancelledPayment, PaymentDetail, PaymentStatus, PaymentSummary } from './types';

interface ActionKind<Result> {
  readonly name: 'cancel' | 'refund';
  readonly rejection: typeof LunasError;
  /** The action does something to a payment in one of these. */
  readonly actsOn: ReadonlySet<PaymentStatus>;
  /** Whether a payment that has changed shows the action. */
  readonly isDone: (before: PaymentDetail, now: PaymentDetail) => boolean;
  readonly toResult: (payment: PaymentDetail) => Result;
}

const REFUND_STARTED: ReadonlySet<PaymentStatus> = new Set(['refund_processing', 'refund_failed', 'refunded']);

export const CANCEL: ActionKind<CancelledPayment> = {
  name: 'cancel',
  rejection: PaymentCancelFailedError,
  actsOn: new Set(['pending', 'refund_processing']),
  isDone: (before, now) =>
    now.status === 'cancelled' || (before.status === 'refund_processing' && now.status === 'paid'),
  toResult: (payment) => ({
    ...summaryOf(payment),
    cancelled_at: payment.status === 'cancelled' ? payment.updated_at : null,
  }),
};

export const REFUND: ActionKind<PaymentSummary> = {
  name: 'refund',
  rejection: PaymentRefundFailedError,
  actsOn: new Set(['paid']),
  isDone: (_before, now) => REFUND_STARTED.has(now.status),
  toResult: summaryOf,
};

/**
 * One call of an action, which is not idempotent: a repeated refund could follow a refund that another process has
 * cancelled meanwhile. So the payment is read before the first attempt, and again after each lost response. The request
 * is repeated only if the payment has not changed, or if the API can only reject the repeat.
 */
export class PaymentAction {
  constructor(
    private readonly http: HttpClient,
    private readonly id: string,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async run<Result>(kind: ActionKind<Result>): Promise<Result> {
    const before = await this.#readBefore();
    const call = { method: 'POST', path: `${paymentPath(this.id)}/${kind.name}`, signal: this.signal } as const;
    let wasLost = false;
    try {
      const { value } = await this.http.send<Result>(call, 'payment', (lost) => {
        wasLost = true;
        return this.#afterLoss(kind, before, lost);
      });
      return value;
    } catch (error) {
      if (!wasLost || !before || !(error instanceof kind.rejection)) throw error;
      // The attempt without a response may have ended after the payment was read.
      const now = await this.#readAfter(error);
      if (!isChanged(before, now) || !kind.isDone(before, now)) throw error;
      return kind.toResult(now);
    }
  }

  async #afterLoss<Result>(
    kind: ActionKind<Result>,
    before: PaymentDetail | null,
    lost: LunasError,
  ): Promise<Result | undefined> {
    if (!before) throw lost;
    const now = await this.#readAfter(lost);
    if (!isChanged(before, now)) return undefined;
    if (kind.isDone(before, now)) return kind.toResult(now);
    if (kind.actsOn.has(now.status)) throw lost;
    return undefined;
  }

  /** Null if the key has no scope to read. */
  async #readBefore(): Promise<PaymentDetail | null> {
    try {
      return await this.#read();
    } catch (error) {
      if (error instanceof ScopeNotAllowedError) return null;
      throw error;
    }
  }

  async #readAfter(error: LunasError): Promise<PaymentDetail> {
    try {
      return await this.#read();
    } catch (readError) {
      throw readError instanceof LunasError ? error : readError;
    }
  }

  async #read(): Promise<PaymentDetail> {
    const call = { method: 'GET', path: paymentPath(this.id), signal: this.signal } as const;
    const { value } = await this.http.send<PaymentDetail>(call, 'payment');
    return value;
  }
}

/** `updated_at` increases with every change. */
function isChanged(before: PaymentDetail, now: PaymentDetail): boolean {
  return before.updated_at !== now.updated_at;
}

function summaryOf(payment: PaymentDetail): PaymentSummary {
  const { id, reference_id, merchant_reference_id, payment_method_code, currency, status } = payment;
  const { amount, fee_amount, net_amount, total_amount } = payment;
  return {
    id,
    reference_id,
    merchant_reference_id,
    payment_method_code,
    currency,
    amount,
    fee_amount,
    net_amount,
    total_amount,
    status,
  };
}
