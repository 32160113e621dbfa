/** Why a merchant's available balance changed. */
export type BalanceTransactionKind =
  'settlement' | 'refund_fee' | 'payout' | 'payout_cancelled' | 'payout_failed' | 'payout_returned' | 'payout_conflict';
