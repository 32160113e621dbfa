/**
 * Expressions of the indexes of 0008_recovery_indexes.sql, for a table named or aliased `payments`. They have the status as an
 * expression, so that a statement about one status is not planned with these indexes by chance.
 */
export const STATUS = "(payments.status || '')";
export const IS_OPEN = `${STATUS} in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed')`;
export const IS_FINAL = `${STATUS} in ('expired', 'settled', 'failed', 'cancelled', 'refunded')`;
/** Within each status. */
export const NEWEST_FIRST = "(payments.created_at at time zone 'utc') desc, payments.id desc";
