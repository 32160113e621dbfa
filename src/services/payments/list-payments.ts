import type { Queryable } from '../../db/connection/pool';
import { IS_SETTLEMENT_DUE, OVERDUE, type Overdue } from '../../db/operations/overdue-payments';
import { CREATED_AT, hasOrderId, NEWEST_FIRST, STATUS } from '../../db/payments/payment-indexes';
import { PAYMENT_COLUMNS, type PaymentRow } from '../../db/payments/payment-row';
import { searchPaymentPage, type PaymentSearch } from '../../db/payments/search-payment-page';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment-transitions';

export interface PaymentFilter {
  readonly merchantId?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  /** Only payments with manual settlement whose settlement delay is over. */
  readonly isSettlementDue?: boolean | undefined;
  /** The merchant's own id of the order. */
  readonly merchantReferenceId?: string | undefined;
  /** Inclusive, as is `createdTo`. */
  readonly createdFrom?: Date | undefined;
  readonly createdTo?: Date | undefined;
  readonly limit: number;
}

type OverdueFilter = Pick<PaymentFilter, 'merchantId' | 'status' | 'limit'>;

/** Payments of one merchant or of all, newest first. */
export async function listPayments(db: Queryable, filter: PaymentFilter): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(statementOf(filter));
  return rows;
}

/** The amount is compared with each payment: the merchant or the order makes few of many. */
export interface AmountFilter extends Omit<PaymentFilter, 'isSettlementDue'> {
  readonly totalRupiah: number;
}

/** Lists payments of an amount: those of the order, or of the newest 2,000 of the merchant. */
export async function listPaymentsOfAmount(db: Queryable, filter: AmountFilter): Promise<PaymentSearch> {
  const { merchantId, merchantReferenceId, status, createdFrom, createdTo, totalRupiah, limit } = filter;
  if (merchantId === undefined || merchantReferenceId !== undefined) {
    const payments = await listPayments(db, { ...filter, limit: MAX_OF_ORDER });
    const ofAmount = payments.filter((payment) => payment.totalRupiah === totalRupiah);
    return { payments: ofAmount.slice(0, limit), searchedTo: null };
  }
  const range = { createdFrom: createdFrom ?? null, createdTo: createdTo ?? null, start: null };
  const page = { merchantId, statuses: status === undefined ? null : [status], ...range };
  return searchPaymentPage(db, page, { totalRupiah }, limit);
}

/** The attempts to pay one order. */
const MAX_OF_ORDER = 1_000;

/**
 * Payments that a timer should have moved on, the longest overdue first. Settlements that an operator holds back are no
 * part of them.
 */
export async function listOverduePayments(
  db: Queryable,
  { merchantId, status, limit }: OverdueFilter,
): Promise<PaymentRow[]> {
  const parts = OVERDUE.filter((part) => status === undefined || part.status === status);
  if (parts.length === 0) return [];
  const text = `
    select ${PAYMENT_COLUMNS} from (
      ${parts.map(overduePart).join('\n      union all ')}
    ) payments order by payments.due_at limit $2`;
  const { rows } = await db.query<PaymentRow>({ text, values: [merchantId, limit] });
  return rows;
}

function overduePart({ condition, order, dueAt }: Overdue): string {
  return `(select payments.*, ${dueAt} as due_at from payments
        where ${condition} and ($1::uuid is null or payments.merchant_id = $1) order by ${order} limit $2)`;
}

function statementOf(filter: PaymentFilter): { text: string; values: unknown[] } {
  if (filter.merchantReferenceId !== undefined && filter.merchantId === undefined) return ofOrder(filter);
  return filter.merchantId === undefined ? ofAll(filter) : ofMerchant(filter);
}

/** The index over all merchants begins with the status: the newest of each status are merged. */
function ofAll({ status, isSettlementDue, createdFrom, createdTo, limit }: PaymentFilter) {
  const text = `
    select ${PAYMENT_COLUMNS}
    from unnest($1::text[]) as wanted (wanted_status) cross join lateral (
      select * from payments
      where ${STATUS} = wanted_status ${isSettlementDue ? `and ${IS_SETTLEMENT_DUE}` : ''}
        and ($3::timestamptz is null or ${CREATED_AT} >= $3 at time zone 'utc')
        and ($4::timestamptz is null or ${CREATED_AT} <= $4 at time zone 'utc')
      order by ${NEWEST_FIRST} limit $2
    ) payments
    order by ${NEWEST_FIRST} limit $2`;
  return { text, values: [status === undefined ? PAYMENT_STATUSES : [status], limit, createdFrom, createdTo] };
}

function ofMerchant({ merchantId, isSettlementDue, ...filter }: PaymentFilter) {
  const text = `
    select ${PAYMENT_COLUMNS} from payments
    where merchant_id = $1 and ${MATCHES} and ($6::text is null or (${hasOrderId('$6')}))
      ${isSettlementDue ? `and ${IS_SETTLEMENT_DUE}` : ''}
    order by created_at desc, id desc limit $2`;
  return { text, values: [merchantId, ...valuesOf(filter), filter.merchantReferenceId] };
}

/** The index of orders begins with the merchant: it is read once for each. */
function ofOrder({ merchantReferenceId, isSettlementDue, ...filter }: PaymentFilter) {
  const text = `
    select ${PAYMENT_COLUMNS}
    from merchants cross join lateral (
      select * from payments
      where merchant_id = merchants.id and ${hasOrderId('$1')} and ${MATCHES}
        ${isSettlementDue ? `and ${IS_SETTLEMENT_DUE}` : ''}
      order by created_at desc, id desc limit $2
    ) payments
    order by payments.created_at desc, payments.id desc limit $2`;
  return { text, values: [merchantReferenceId, ...valuesOf(filter)] };
}

/** $2 is the limit. */
const MATCHES = `($3::text is null or status = $3)
  and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at <= $5)`;

function valuesOf({ limit, status, createdFrom, createdTo }: PaymentFilter): unknown[] {
  return [limit, status, createdFrom, createdTo];
}
