/** Conditions of the partial indexes of 0008_recovery_indexes.sql, for a table named or aliased `payments`. */
export const IS_OPEN =
  "(payments.status || '') in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed')";
export const IS_FINAL = "(payments.status || '') in ('expired', 'settled', 'failed', 'cancelled', 'refunded')";
