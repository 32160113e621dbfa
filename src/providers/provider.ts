import type { AccountStop } from '../domain/exception-kinds';
import type { Indeterminate, ProviderCall } from '../domain/provider-call';
import type { ProviderName } from '../domain/provider-capabilities';
import type { ProviderPaymentStatus } from '../domain/provider-status';

export type { Indeterminate, ProviderCall };

/**
 * The calls that Lunas makes to an acquirer. A call ends at `deadlineAtMs` or when `signal` aborts, whichever comes
 * first. It never throws because of the acquirer. Its outcome is `accepted` or a known state, `rejected` (final, with
 * the acquirer's reason), or `indeterminate`: the request may or may not have been executed, so query the order by our
 * reference before any repeat.
 */
export interface Provider {
  issueQris(request: IssueQrisRequest, call: ProviderCall): Promise<IssueQrisOutcome>;
  findPayment(order: OrderKey, call: ProviderCall): Promise<FindPaymentOutcome>;
  /** Closes an unpaid order. `rejected` if the order can no longer change: read its state. */
  expirePayment(order: OrderKey, call: ProviderCall): Promise<ClosePaymentOutcome>;
  cancelPayment(order: OrderKey, call: ProviderCall): Promise<ClosePaymentOutcome>;
  /**
   * Requests a refund. `accepted` means only that the request was received: the refund is final once `findPayment`
   * lists it as confirmed. A repeat with the same refund key is harmless and gets the response to the first call.
   */
  refundPayment(request: RefundRequest, call: ProviderCall): Promise<RefundOutcome>;
  /** Verifies the sender and reads the order. The content proves nothing: the caller queries `findPayment`. */
  verifyNotification(notification: ReceivedNotification): NotificationVerification;
}

/** How an order is named to the acquirer, and what is known of it. */
export interface OrderKey {
  readonly referenceId: string;
  /** What the acquirer issued for it; null: not known. Some responses name an order only by the acquirer's id. */
  readonly issued: { readonly transactionId: string; readonly totalRupiah: number } | null;
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
  /** A valid QRIS with a correct CRC; an amount in it is the order's. */
  readonly qrisPayload: string;
}

export interface Rejected {
  readonly outcome: 'rejected';
  /** In the acquirer's words, for operators. */
  readonly reason: string;
  /** For merchants, if the reason is about our provider account. */
  readonly merchantReason?: string;
}

/** The order is open, and no customer may get its QR. A repeat would return the same. */
export interface Unusable {
  readonly outcome: 'unusable';
  /** Names the field, and both values. For operators. */
  readonly reason: string;
  /** Each further order of the account would be like it: it must issue no more. */
  readonly stopsAccount?: AccountStop;
}

export type IssueQrisOutcome = ({ readonly outcome: 'accepted' } & IssuedQris) | Rejected | Unusable | Indeterminate;

export interface ProviderPayment {
  readonly status: ProviderPaymentStatus;
  readonly providerTransactionId: string;
  readonly totalRupiah: number;
  /** When the customer paid, by the acquirer's clock; null until then, or if the acquirer does not report it. */
  readonly paidAt: Date | null;
  /** Valid, as in `IssuedQris`; null if the acquirer does not repeat it, or repeats it corrupted. */
  readonly qrisPayload: string | null;
  /** The refunds that the acquirer accepted, without those that it rejected or never received. */
  readonly refunds: readonly ProviderRefund[];
}

export interface ProviderRefund {
  readonly refundKey: string;
  /** The acquirer's reference, for an operator who contacts the acquirer; null if there is none. */
  readonly providerReference: string | null;
  readonly totalRupiah: number;
  /** When the bank confirmed it, which makes it final; null until then. */
  readonly confirmedAt: Date | null;
}

export interface RefundRequest extends OrderKey {
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
  /** The lines of each header, by its name in lower case. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

export type NotificationVerification =
  | {
      readonly outcome: 'verified';
      readonly referenceId: string;
      /**
       * The status in the notification; null if a query is needed in any case. `refunded` also stands for a refund that
       * is unconfirmed or partial. Its only use: if we have recorded that status, no query is needed.
       */
      readonly reportedStatus: ProviderPaymentStatus | null;
      /** Two notifications of an account with the same dedupe key are the same, whatever their bytes. */
      readonly dedupeKey: string;
      /** The part of the dedupe key that the signature covers. */
      readonly signed: string;
    }
  | { readonly outcome: 'invalid_signature' }
  | { readonly outcome: 'malformed' };
