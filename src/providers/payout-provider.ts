import type { BankPayoutStatus, FindPayoutOutcome, PayoutFailureKind } from '../domain/bank-payout';
import type { Indeterminate, ProviderCall } from '../domain/provider-call';
import type { ReceivedNotification } from './provider';

/**
 * The calls that Lunas makes to the bank that executes payouts. A call ends at `deadlineAtMs` or when `signal` aborts,
 * whichever comes first. It never throws because of the bank. If its outcome is `indeterminate`, the bank may have
 * executed it: query by our reference, and never send it again without a permission.
 */
export interface PayoutProvider {
  /** The holder of an account. `rejected`: the bank reports that the account cannot receive money. */
  inquireAccount(account: BankAccountNumber, call: ProviderCall): Promise<InquireAccountOutcome>;
  /**
   * All that `sendPayout` needs besides the bank: a token, and a slot in the rate of calls of the account. Called
   * before the permission to send is recorded, because the permission allows one call.
   */
  prepareSend(referenceId: string, call: ProviderCall): Promise<{ readonly outcome: 'ready' } | Indeterminate>;
  /** `accepted`: the bank has received the order. Only `findPayout` makes it final. */
  sendPayout(order: PayoutOrder, call: ProviderCall): Promise<SendPayoutOutcome>;
  /** `not_found` proves nothing while the bank may still receive the order. */
  findPayout(key: PayoutKey, call: ProviderCall): Promise<FindPayoutOutcome>;
}

/** The notifications of the same bank. The API receives them, and has no credentials for a call. */
export interface PayoutNotifications {
  /** Verifies the sender and reads the reference. The content proves nothing: the workflow queries `findPayout`. */
  verifyPayoutNotification(notification: ReceivedNotification): PayoutNotificationVerification;
}

export interface BankAccountNumber {
  /** The national code of the bank: three digits. */
  readonly bankCode: string;
  readonly number: string;
}

export interface PayoutOrder {
  /** The bank's partner reference, the same at each send. */
  readonly referenceId: string;
  /** 1, and one more for each further permission to send. A bank rejects the same number again on the same day. */
  readonly sendNumber: number;
  readonly amountRupiah: number;
  readonly account: BankAccountNumber;
  /** The name that the bank reported. */
  readonly holderName: string;
  readonly submittedAt: Date;
}

export interface PayoutKey {
  readonly referenceId: string;
  /** Null if the response to the order was lost. */
  readonly bankReference: string | null;
  /** Null if it is not known when the order was sent. */
  readonly submittedAt: Date | null;
}

/** The bank moved nothing, for certain. */
export interface BankRejected {
  readonly outcome: 'rejected';
  readonly failureKind: PayoutFailureKind;
  /** In the bank's words, for operators. */
  readonly reason: string;
}

export type InquireAccountOutcome =
  { readonly outcome: 'found'; readonly holderName: string } | BankRejected | Indeterminate;
export type SendPayoutOutcome =
  { readonly outcome: 'accepted'; readonly bankReference: string | null } | BankRejected | Indeterminate;

export type PayoutNotificationVerification =
  | {
      readonly outcome: 'verified';
      readonly referenceId: string;
      /** The status in the notification; null if it has none of ours. */
      readonly reportedStatus: BankPayoutStatus | null;
      /** Two notifications of an account with the same key are the same, whatever their bytes. */
      readonly dedupeKey: string;
    }
  | { readonly outcome: 'invalid_signature' }
  | { readonly outcome: 'malformed' };
