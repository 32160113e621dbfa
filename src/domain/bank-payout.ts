import type { PayoutStatus } from './payout-transitions';
import type { Indeterminate } from './provider-call';

/**
 * Why a bank rejects a payout. `account`: the beneficiary's · `source_balance`: ours is short · `cut_off`, `limit` and
 * `other`: the next payout may succeed.
 */
export const PAYOUT_FAILURE_KINDS = ['account', 'source_balance', 'cut_off', 'limit', 'other'] as const;
export type PayoutFailureKind = (typeof PAYOUT_FAILURE_KINDS)[number];

export const BANK_PAYOUT_STATUSES = ['pending', 'completed', 'failed', 'returned'] as const;
export type BankPayoutStatus = (typeof BANK_PAYOUT_STATUSES)[number];

/** A payout as the bank reports it. */
export interface BankPayout {
  readonly status: BankPayoutStatus;
  readonly amountRupiah: number;
  /** Null if the bank does not repeat the number. */
  readonly accountLastFour: string | null;
  readonly bankReference: string | null;
  /** Null until then, or if the bank does not report it. */
  readonly completedAt: Date | null;
  /** Why the payout failed; null if it did not. */
  readonly failureKind: PayoutFailureKind | null;
  readonly reason: string | null;
}

export type FindPayoutOutcome =
  { readonly outcome: 'found'; readonly payout: BankPayout } | { readonly outcome: 'not_found' } | Indeterminate;

/** A payout of a merchant whose status an operator wants to know. */
export interface BankStatusInput {
  readonly payoutId: string;
  readonly merchantId: string;
}

/** What the bank reports now, as operators read it. */
export type BankStatusReport =
  Exclude<FindPayoutOutcome, { readonly outcome: 'found' }> | ({ readonly outcome: 'found' } & ReportedPayout);
type ReportedPayout = Pick<BankPayout, 'status' | 'amountRupiah' | 'accountLastFour' | 'bankReference' | 'reason'>;

/**
 * Until then there is a report: a call takes at most 3 s, and may wait for its turn. An operator's API responds within
 * 10 s.
 */
export const BANK_STATUS_TIMEOUT_MS = 8_000;

/** The statuses of a payout that already reflect what the bank reports: no status query is necessary. */
export const PAYOUT_STATUSES_REFLECTING = {
  pending: ['submitted', 'completed', 'failed', 'returned'],
  completed: ['completed', 'returned'],
  // Midtrans reports a payout that came back as failed.
  failed: ['failed', 'returned'],
  returned: ['returned'],
} as const satisfies Record<BankPayoutStatus, readonly PayoutStatus[]>;

/** The earlier notifications that a status query covers, by the bank's status now. As `COVERED_BY` of payments. */
export const BANK_COVERED_BY = {
  pending: ['pending'],
  completed: [null, 'pending', 'completed'],
  failed: [null, 'pending', 'failed'],
  returned: [null, 'pending', 'completed', 'failed', 'returned'],
} as const satisfies Record<BankPayoutStatus, readonly (BankPayoutStatus | null)[]>;
