import { FINAL_STATUSES, OPEN_STATUSES } from '../../domain/payment-transitions';
import { literalList } from '../connection/statement';

/**
 * Expressions of the indexes of `payments`, for a table named or aliased `payments`. The status is an
 * expression there, so that PostgreSQL does not plan a statement about one status with these indexes.
 */
export const STATUS = "(payments.status || '')";
export const IS_OPEN = `${STATUS} in (${literalList(OPEN_STATUSES)})`;
export const IS_FINAL = `${STATUS} in (${literalList(FINAL_STATUSES)})`;
export const CREATED_AT = "(payments.created_at at time zone 'utc')";
/** Within each status. */
export const NEWEST_FIRST = `${CREATED_AT} desc, payments.id desc`;

/** The order number in the form that its index has: a search ignores the case. */
export const LOWER_ORDER_ID = 'lower(merchant_reference_id)';

/** Payments of exactly this order. Their index is that of the search, with those of another case between them. */
export const hasOrderId = (value: string) => `${LOWER_ORDER_ID} = lower(${value}) and merchant_reference_id = ${value}`;

/** The pattern of a text that begins so. */
export const beginsWith = (beginning: string) => `${beginning.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
