/** Why a merchant's available balance changed. */
export type BalanceTransactionKind =
  | 'settlement'
  | 'refund_fee'
  | 'payout'
  | 'payout_cancelled'
  | 'payout_failed'
  | 'payout_returned'
  | 'payout_conflict'
  | 'fee_credit';

/** The money of a merchant, in rupiah. */
export interface Balance {
  /** Below zero: the merchant owes the fees of refunds. */
  readonly availableRupiah: number;
  /** Paid by customers, and not settled. */
  readonly pendingRupiah: number;
  /** Requested as payouts that have not ended, without their fees. */
  readonly inTransitRupiah: number;
  readonly asOf: Date;
}
