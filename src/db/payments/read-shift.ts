import { z } from 'zod';
import { PAID_STATUSES, PAYMENT_STATUSES, RECEIVED_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { OWN_CREATIONS, type Creator } from './own-payments';

/** A shift with more payments has to be shortened. */
export const MAX_SHIFT_PAYMENTS = 5_000;

/** What a member created from one time until before another. */
export interface Shift extends Creator {
  readonly from: Date;
  readonly to: Date;
}

const figuresSchema = z.object({
  /** There are more than 5,000, and neither figures nor rows. */
  isTooLong: z.boolean(),
  /** A day of the shift is in the archive: its payments are missing. */
  hasArchivedDays: z.boolean(),
  created: z.number(),
  paid: z.number(),
  paidRupiah: z.number(),
  refunded: z.number(),
  waiting: z.number(),
  /** The sum over the payments whose money the merchant has. */
  netRupiah: z.number(),
  /** What the lines of the balance add up to. */
  inBalanceRupiah: z.number(),
  unsettledRupiah: z.number(),
  /** Whether the net is in the balance or not yet settled, to the rupiah. */
  isEqual: z.boolean(),
});

const paymentSchema = z.object({
  referenceId: z.string(),
  merchantReferenceId: z.string().nullable(),
  totalRupiah: z.number(),
  netRupiah: z.number(),
  status: z.enum(PAYMENT_STATUSES),
  createdAt: z.date(),
  /** What is in the balance; null: nothing yet. */
  settledRupiah: z.number().nullable(),
});

export type ShiftPayment = z.output<typeof paymentSchema>;
export type ShiftFigures = z.output<typeof figuresSchema>;

/**
 * $1: the merchant, $2: the user, $3 and $4: the time. The figures and the rows are of one snapshot. When a payment was
 * created decides its shift, and not when its form was sent: that can be more than once, also before the shift and
 * after it. The log finds the payment by a form that was sent about then, because the clocks of the two differ. The
 * lines of the balance are found by their postings: they have no index by payment.
 */
const SHIFT = `
  with newest as materialized (
    select target ${OWN_CREATIONS}
      and requested_at >= $3::timestamptz - interval '1 minute'
      and requested_at < $4::timestamptz + interval '1 minute'
    order by requested_at desc limit ${MAX_SHIFT_PAYMENTS + 1}
  ), shift as materialized (
    select payment.reference_id, payment.merchant_reference_id, payment.total_rupiah, payment.net_rupiah,
      payment.status, payment.created_at, line.amount_rupiah as settled_rupiah
    from (select distinct target::uuid as id from newest) creation
      join payments payment on payment.id = creation.id and payment.merchant_id = $1
        and payment.created_at >= $3 and payment.created_at < $4
      left join lateral (
        select sum(line.amount_rupiah)::bigint as amount_rupiah
        from ledger_postings posting join balance_transactions line on line.posting_id = posting.id
        where posting.payment_id = payment.id and line.merchant_id = $1 and line.kind = 'settlement'
      ) line on true
    where (select count(*) from newest) <= ${MAX_SHIFT_PAYMENTS}
  ), sums as (
    select count(*)::integer as created,
      count(*) filter (where status in (${literalList(PAID_STATUSES)}))::integer as paid,
      coalesce(sum(total_rupiah) filter (where status in (${literalList(PAID_STATUSES)})), 0)::bigint as paid_rupiah,
      count(*) filter (where status = 'refunded')::integer as refunded,
      count(*) filter (where status in ('created', 'pending'))::integer as waiting,
      coalesce(sum(net_rupiah) filter (where status in (${literalList(RECEIVED_STATUSES)})), 0)::bigint as net,
      coalesce(sum(settled_rupiah), 0)::bigint as in_balance,
      coalesce(sum(net_rupiah) filter (where status in (${literalList(RECEIVED_STATUSES)}) and status <> 'settled'), 0)
        ::bigint as unsettled
    from shift
  )
  select (select count(*) from newest) > ${MAX_SHIFT_PAYMENTS} as "isTooLong",
    exists (select from archive_files where removal_began_at is not null
      and day between ($3 at time zone 'UTC')::date and ($4 at time zone 'UTC')::date) as "hasArchivedDays",
    created, paid, paid_rupiah as "paidRupiah", refunded, waiting, net as "netRupiah",
    in_balance as "inBalanceRupiah", unsettled as "unsettledRupiah", net = in_balance + unsettled as "isEqual",
    reference_id as "referenceId", merchant_reference_id as "merchantReferenceId", total_rupiah as "totalRupiah",
    net_rupiah as "paymentNetRupiah", status, created_at as "createdAt", settled_rupiah as "settledRupiah"
  from sums left join shift on true
  order by created_at desc, reference_id desc`;

/** The payments of a shift, the newest first, and what they add up to. */
export async function readShift(
  db: Queryable,
  { merchantId, userId, from, to }: Shift,
): Promise<{ readonly figures: ShiftFigures; readonly payments: readonly ShiftPayment[] }> {
  const { rows } = await db.query<{ referenceId: string | null; paymentNetRupiah: number | null }>({
    name: 'read_shift',
    text: SHIFT,
    values: [merchantId, userId, from, to],
  });
  const payments = rows
    .filter(({ referenceId }) => referenceId !== null)
    .map((row) => paymentSchema.parse({ ...row, netRupiah: row.paymentNetRupiah }));
  return { figures: figuresSchema.parse(rows[0]), payments };
}
