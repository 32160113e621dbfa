import type { PayoutStatus } from './payout-transitions';

/** Who approves a payout: the workflow, a second member of the merchant, or an operator. */
export const APPROVAL_KINDS = ['none', 'second_user', 'operator'] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

/** A request that is not approved until then is cancelled. */
export const APPROVAL_PERIOD_DAYS = 7;

/** The captured terms of a payout. Its row has them too, and no step follows others. */
export interface PayoutTerms {
  readonly payoutId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly bankAccountId: string;
  /** Our account, which pays. */
  readonly providerAccountId: string;
  /** What leaves the balance: the amount and the fee. */
  readonly grossRupiah: number;
  readonly feeRupiah: number;
  /** What the merchant receives. */
  readonly amountRupiah: number;
  readonly approvalKind: ApprovalKind;
  readonly requestedAtMs: number;
}

/** What decides where money goes, and how much. A row of `payouts` never changes it. */
export const DECISIVE_TERMS = [
  'referenceId',
  'merchantId',
  'bankAccountId',
  'providerAccountId',
  'grossRupiah',
  'feeRupiah',
  'amountRupiah',
] as const satisfies readonly (keyof PayoutTerms)[];

/** `version` is the number of transitions. A step states the version that it starts from. */
export interface PayoutState {
  readonly status: PayoutStatus;
  readonly version: number;
  /** The last permission for a call to the bank; absent before the first one. */
  readonly lastSentAtMs?: number;
}
