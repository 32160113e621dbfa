/** Why a merchant's available balance changed. */
export const BALANCE_TRANSACTION_KINDS = [
  'settlement',
  'refund_fee',
  'payout',
  'payout_cancelled',
  'payout_failed',
  'payout_returned',
  'payout_conflict',
] as const;
export type BalanceTransactionKind = (typeof BALANCE_TRANSACTION_KINDS)[number];
