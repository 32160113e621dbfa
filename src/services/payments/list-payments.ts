import type { Queryable } from '../../db/connection/pool';
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

/** Only an operator settles these payments. */
const WAITS_FOR_SETTLEMENT = "and status = 'paid' and settlement_kind = 'manual' and settlement_due_at <= now()";

/** Payments of one merchant or of all, newest first. */
export async function listPayments(db: Queryable, filter: PaymentFilter): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(filter.merchantId === undefined ? ofAll(filter) : ofMerchant(filter));
  return rows;
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
