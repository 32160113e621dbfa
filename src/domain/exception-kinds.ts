/** Cases that no rule decides: an operator resolves them. */
export const EXCEPTION_KINDS = [
  'late_payment',
  'wrong_amount',
  'unknown_order',
  'paid_twice',
  'refunded_after_settlement',
  'reconciliation',
  'foreign_qris',
  'changed_amount',
  'payout_conflict',
  'payout_amount',
  'payout_source_balance',
  'unknown_payout',
  'lost_payout',
] as const;
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number];

/** Why a provider account is stopped: its QRs are those of another merchant, or it changes the amounts of orders. */
export type AccountStop = Extract<ExceptionKind, 'foreign_qris' | 'changed_amount'>;
