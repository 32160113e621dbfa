/** Cases that no rule decides: an operator resolves them. */
export const EXCEPTION_KINDS = [
  'late_payment',
  'wrong_amount',
  'unknown_order',
  'paid_twice',
  'refunded_after_settlement',
  'refunded_twice',
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

/**
 * What is behind an exception of a reconciliation, if a command repairs it. `lost`: a workflow, a row or the retries of
 * a delivery, which a recovery restores. `overdue`: a timer. `failed_run`: not everything was compared.
 */
export const EXCEPTION_CAUSES = ['lost', 'overdue', 'failed_run'] as const;
export type ExceptionCause = (typeof EXCEPTION_CAUSES)[number];

/** Why a provider account is stopped: its QRs are those of another merchant, or it changes the amounts of orders. */
export const ACCOUNT_STOPS = ['foreign_qris', 'changed_amount'] as const satisfies readonly ExceptionKind[];
export type AccountStop = (typeof ACCOUNT_STOPS)[number];
