/** What no rule decides, and a person has to. */
export const EXCEPTION_KINDS = [
  'late_payment',
  'wrong_amount',
  'unknown_order',
  'paid_twice',
  'refunded_after_settlement',
  'reconciliation',
] as const;
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number];
