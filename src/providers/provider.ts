import type { ProviderName } from '../domain/provider-capabilities';
import type { ProviderPaymentStatus } from '../domain/provider-status';

/**
 * What Lunas asks of an acquirer. Each call ends before `deadlineAtMs` or when `signal` aborts, whichever comes first,
 * never throws for what the acquirer says or fails to say, and answers one of three things:
 * `accepted`/a known state, `refused` (final, with the acquirer's reason), or `unclear` (it may or may not have happened:
 * look the order up by our reference before anything is tried again).
 */
export interface Provider {
  issueQris(request: IssueQrisRequest, call: ProviderCall): Promise<IssueQrisOutcome>;
  findPayment(referenceId: string, call: ProviderCall): Promise<FindPaymentOutcome>;
  /** Ends an unpaid order. `refused` where the acquirer says that it can no longer change: read its state. */
  expirePayment(referenceId: string, call: ProviderCall): Promise<ClosePaymentOutcome>;
  cancelPayment(referenceId: string, call: ProviderCall): Promise<ClosePaymentOutcome>;
  /**
   * Asks for money back. `accepted` means only that the request was taken: the refund is final once `findPayment` lists it as
   * confirmed. The same refund key may be sent again without harm; it gets the answer of its first call.
   */
  refundPayment(request: RefundRequest, call: ProviderCall): Promise<RefundOutcome>;
  /** Verifies who sent it and reads which order it speaks of. What it says is not believed: the caller asks `findPayment`. */
  verifyNotification(notification: ReceivedNotification): NotificationVerification;
}

export interface ProviderCall {
  readonly signal: AbortSignal;
  /** An instant, not a length of time: a process that stood still must not call when another has taken over. */
  readonly deadlineAtMs: number;
}

export interface IssueQrisRequest {
  readonly provider: ProviderName;
  readonly referenceId: string;
  readonly totalRupiah: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface IssuedQris {
  readonly providerTransactionId: string;
  /** Reads as a QRIS, its CRC is right, and an amount in it is the order's. */
  readonly qrisPayload: string;
}

export type Rejected = { readonly outcome: 'rejected'; readonly reason: string };
export type Indeterminate = { readonly outcome: 'indeterminate'; readonly reason: string };

export type IssueQrisOutcome = ({ readonly outcome: 'accepted' } & IssuedQris) | Rejected | Indeterminate;

export interface ProviderPayment {
  readonly status: ProviderPaymentStatus;
  readonly providerTransactionId: string;
  readonly totalRupiah: number;
  /** When the customer paid, by the acquirer's clock; null until then, or where it does not say. */
  readonly paidAt: Date | null;
  /** Sound as the one that was issued; null where the acquirer does not repeat it, or not in one piece. */
  readonly qrisPayload: string | null;
  /** Those that the acquirer has taken; one that it turned down, or never got, is not among them. */
  readonly refunds: readonly ProviderRefund[];
}

export interface ProviderRefund {
  readonly refundKey: string;
  /** The acquirer's own number of it, for whoever asks them about it; null where they gave none. */
  readonly providerReference: string | null;
  readonly totalRupiah: number;
  /** When the bank confirmed it, which makes it final; null until then. */
  readonly confirmedAt: Date | null;
}

export interface RefundRequest {
  readonly referenceId: string;
  readonly refundKey: string;
  readonly totalRupiah: number;
  readonly reason: string;
}

export type FindPaymentOutcome =
  { readonly outcome: 'found'; readonly payment: ProviderPayment } | { readonly outcome: 'not_found' } | Indeterminate;

export type ClosePaymentOutcome = { readonly outcome: 'accepted' } | Rejected | Indeterminate;
export type RefundOutcome = { readonly outcome: 'accepted' } | Rejected | Indeterminate;

export interface ReceivedNotification {
  readonly rawBody: Buffer;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type NotificationVerification =
  | {
      readonly outcome: 'verified';
      readonly referenceId: string;
      /**
       * What it says of the order, null where that needs asking in any case; `refunded` also of a refund that is not confirmed, or
       * of a part. Good for one thing: where we know that already, nobody needs to be asked.
       */
      readonly reportedStatus: ProviderPaymentStatus | null;
    }
  | { readonly outcome: 'invalid_signature' }
  | { readonly outcome: 'malformed' };
