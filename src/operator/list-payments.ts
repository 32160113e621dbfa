import type { Queryable } from '../db/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from '../db/reads/payment-row';
import type { PaymentStatus } from '../domain/payment-transitions';

export interface PaymentFilter {
  readonly merchantId?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  /** Only those of manual settlement whose delay is over. */
  readonly waitsForSettlement?: boolean | undefined;
  /** At most so many. */
  readonly limit: number;
}

/** Newest first; with the expressions of the indexes, one for each merchant and one for all of them. */
const NEWEST_FIRST = {
  ofMerchant: 'created_at desc, id desc',
  ofAll: "(created_at at time zone 'utc') desc, id desc",
} as const;

/** Nobody but an operator settles them. */
const WAITS_FOR_SETTLEMENT = "status = 'paid' and settlement_kind = 'manual' and settlement_due_at <= now()";

/** Payments of one merchant or of all, newest first. */
export async function listPayments(db: Queryable, filter: PaymentFilter): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(
    `select ${PAYMENT_COLUMNS} from payments
     where ($1::uuid is null or merchant_id = $1) and ($2::text is null or status = $2)
       ${filter.waitsForSettlement ? `and ${WAITS_FOR_SETTLEMENT}` : ''}
     order by ${filter.merchantId === undefined ? NEWEST_FIRST.ofAll : NEWEST_FIRST.ofMerchant} limit $3`,
    [filter.merchantId, filter.status, filter.limit],
  );
  return rows;
}
