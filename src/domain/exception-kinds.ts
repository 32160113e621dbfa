/** Cases that no rule decides: an operator resolves them. */
export const EXCEPTION_KINDS = [
  'late_payment',
  'wrong_amount',
  'unknown_order',
  'paid_twice',
  'refunded_after_settlement',
  'reconciliation',
  'foreign_qris',
  'payout_conflict',
  'payout_amount',
  'payout_source_balance',
  'unknown_payout',
  'lost_payout',
] as const;
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number];
