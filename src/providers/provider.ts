import type { ProviderName } from '../domain/provider-capabilities';

/**
 * What Lunas asks of an acquirer. Each call ends before `deadline_ms` or when `signal` aborts, whichever comes first,
 * never throws for what the acquirer says or fails to say, and answers one of three things:
 * `accepted`/a known state, `refused` (final, with the acquirer's reason), or `unclear` (it may or may not have happened:
 * look the order up by our reference before anything is tried again).
 */
export interface Provider {
  issueQris(request: IssueQrisRequest, call: ProviderCall): Promise<IssueQrisOutcome>;
  findPayment(referenceId: string, call: ProviderCall): Promise<FindPaymentOutcome>;
  /** Ends an unpaid order. `refused` where the acquirer says that it can no longer change: read its state. */
  expirePayment(referenceId: string, call: ProviderCall): Promise<EndPaymentOutcome>;
  cancelPayment(referenceId: string, call: ProviderCall): Promise<EndPaymentOutcome>;
  /** Verifies who sent it and reads which order it speaks of. What it says is not believed: the caller asks `findPayment`. */
  verifyNotification(notification: ReceivedNotification): NotificationVerdict;
}

export interface ProviderCall {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
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
  /** EMVCo payload, CRC checked. */
  readonly qrisPayload: string;
}

export type Refused = { readonly outcome: 'refused'; readonly reason: string };
export type Unclear = { readonly outcome: 'unclear'; readonly reason: string };

export type IssueQrisOutcome = ({ readonly outcome: 'accepted' } & IssuedQris) | Refused | Unclear;

export type ProviderPaymentStatus = 'pending' | 'paid' | 'expired' | 'cancelled' | 'denied' | 'refunded';

export interface ProviderPayment {
  readonly status: ProviderPaymentStatus;
  readonly providerTransactionId: string;
  readonly totalRupiah: number;
  /** When the customer paid, by the acquirer's clock; null until then. */
  readonly paidAt: Date | null;
  /** Null where the acquirer does not repeat it. */
  readonly qrisPayload: string | null;
}

export type FindPaymentOutcome =
  { readonly outcome: 'found'; readonly payment: ProviderPayment } | { readonly outcome: 'not_found' } | Unclear;

export type EndPaymentOutcome = { readonly outcome: 'accepted' } | Refused | Unclear;

export interface ReceivedNotification {
  readonly rawBody: Buffer;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type NotificationVerdict =
  | { readonly verdict: 'genuine'; readonly referenceId: string }
  | { readonly verdict: 'forged' }
  | { readonly verdict: 'malformed' };
