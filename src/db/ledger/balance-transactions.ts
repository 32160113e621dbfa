import type { BalanceTransactionKind } from '../../domain/balance';
import type { Queryable } from '../connection/pool';

/** One change of a merchant's available balance. */
export interface BalanceTransaction {
  readonly postingId: number;
  /** `YYYY-MM-DD`, in WIB. */
  readonly bookedOn: string;
  readonly occurredAt: Date;
  readonly kind: BalanceTransactionKind;
  /** Above zero: the balance grew. */
  readonly amountRupiah: number;
  /** The reference id of the payment or the payout, or the number of the credit note. */
  readonly referenceId: string | null;
  /** Null also if the payment is archived: its file has it. */
  readonly merchantReferenceId: string | null;
}

/** The position of a line among all of a merchant. */
export type LinePosition = Pick<BalanceTransaction, 'bookedOn' | 'postingId'>;

export interface LinePage {
  readonly after: LinePosition;
  /** The last day of the list. */
  readonly to: string;
  /** Later lines are left out. */
  readonly upToPostingId: number;
  readonly limit: number;
}

/** The lines of a merchant in the order of their days. */
export async function listBalanceTransactions(
  db: Queryable,
  merchantId: string,
  { after, to, upToPostingId, limit }: LinePage,
): Promise<BalanceTransaction[]> {
  const { rows } = await db.query<BalanceTransaction>({
    name: 'list_balance_transactions',
    text: linesOf(
      `where merchant_id = $1 and (booked_on, posting_id) > ($2, $3) and booked_on <= $4 and posting_id <= $5
       order by booked_on, posting_id limit $6`,
      'booked_on, posting_id',
    ),
    values: [merchantId, after.bookedOn, after.postingId, to, upToPostingId, limit],
  });
  return rows;
}

/** The newest lines of a merchant, the newest first. */
export async function listNewestBalanceTransactions(
  db: Queryable,
  merchantId: string,
  limit: number,
): Promise<BalanceTransaction[]> {
  const { rows } = await db.query<BalanceTransaction>({
    name: 'list_newest_balance_transactions',
    text: linesOf(
      'where merchant_id = $1 order by booked_on desc, posting_id desc limit $2',
      'booked_on desc, posting_id desc',
    ),
    values: [merchantId, limit],
  });
  return rows;
}

/**
 * The lines of a page with their payments. The lateral joins read one payment for each line: without them, the plan for
 * any limit joined the lines with all payments (67,675 buffers beside a million, 20 lines).
 */
function linesOf(page: string, order: string): string {
  return `select posting_id as "postingId", booked_on::text as "bookedOn", occurred_at as "occurredAt", kind,
      line.amount_rupiah as "amountRupiah", coalesce(payment.reference_id, archived.reference_id,
        (select reference_id from payouts where payouts.id = line.source_payout_id),
        (select invoice_number from balance_adjustments where balance_adjustments.id = line.adjustment_id)
      ) as "referenceId",
      payment.merchant_reference_id as "merchantReferenceId"
    from (select * from balance_transactions ${page}) line
    left join lateral (
      select reference_id, merchant_reference_id from payments where payments.id = line.payment_id limit 1
    ) payment on true
    left join lateral (
      select reference_id from archived_payments
      where archived_payments.payment_id = line.payment_id and payment.reference_id is null limit 1
    ) archived on true
    order by ${order}`;
}
