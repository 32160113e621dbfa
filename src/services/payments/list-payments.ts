import type { Queryable } from '../../db/connection/pool';
import { OVERDUE, type Overdue } from '../../db/queries/overdue-payments';
import { NEWEST_FIRST, STATUS } from '../../db/queries/payment-indexes';
import { PAYMENT_COLUMNS, type PaymentRow } from '../../db/queries/payment-row';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment-transitions';

export interface PaymentFilter {
  readonly merchantId?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  /** Only payments with manual settlement whose settlement delay is over. */
  readonly waitsForSettlement?: boolean | undefined;
  readonly limit: number;
}

type OverdueFilter = Pick<PaymentFilter, 'merchantId' | 'status' | 'limit'>;

/** Only an operator settles these payments. */
const WAITS_FOR_SETTLEMENT = "and status = 'paid' and settlement_kind = 'manual' and settlement_due_at <= now()";

/** Payments of one merchant or of all, newest first. */
export async function listPayments(db: Queryable, filter: PaymentFilter): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(filter.merchantId === undefined ? ofAll(filter) : ofMerchant(filter));
  return rows;
}

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

/** The index over all merchants begins with the status: the newest of each status are merged. */
function ofAll({ status, waitsForSettlement, limit }: PaymentFilter) {
  const condition = waitsForSettlement ? WAITS_FOR_SETTLEMENT : '';
  const text = `
    select ${PAYMENT_COLUMNS}
    from unnest($1::text[]) as wanted (wanted_status) cross join lateral (
      select * from payments where ${STATUS} = wanted_status ${condition} order by ${NEWEST_FIRST} limit $2
    ) payments
    order by ${NEWEST_FIRST} limit $2`;
  return { text, values: [status === undefined ? PAYMENT_STATUSES : [status], limit] };
}

function ofMerchant({ merchantId, status, waitsForSettlement, limit }: PaymentFilter) {
  const condition = waitsForSettlement ? WAITS_FOR_SETTLEMENT : '';
  const text = `
    select ${PAYMENT_COLUMNS} from payments
    where merchant_id = $1 and ($2::text is null or status = $2) ${condition}
    order by created_at desc, id desc limit $3`;
  return { text, values: [merchantId, status, limit] };
}
