import { z } from 'zod';
import { PAYMENT_STATUSES, RECEIVED_STATUSES, type PaymentStatus } from '../../domain/payment-transitions';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { literalList } from '../connection/statement';

/** A period of a merchant's zone. Inclusive; it begins and ends with an hour. */
export interface FigurePeriod {
  readonly merchantId: string;
  readonly from: Date;
  readonly to: Date;
}

const NET_RUPIAH = `coalesce(sum(net_rupiah) filter (where status in (${literalList(RECEIVED_STATUSES)})), 0)::bigint`;

const barSchema = z.object({
  /** When it begins. */
  at: z.coerce.date(),
  status: z.enum(PAYMENT_STATUSES),
  payments: z.number(),
  totalRupiah: z.number(),
  /** The sum over the payments whose money the merchant has. */
  netRupiah: z.number(),
});

const barsSchema = z.object({ asOf: z.date(), bars: z.array(barSchema) });

/** The figures of each hour or day of the zone that has payments, by status, oldest first; from the totals. */
export async function listFigureBars(
  db: Queryable,
  { merchantId, from, to }: FigurePeriod,
  {
    statuses,
    unit,
    zone,
  }: { readonly statuses: readonly PaymentStatus[]; readonly unit: 'hour' | 'day'; zone: string },
): Promise<z.output<typeof barsSchema>> {
  const { rows } = await db.query({
    name: 'list_figure_bars',
    text: `with bar as (
        select date_trunc($5, hour, $6) as at, status, sum(payments) as payments, sum(total_rupiah) as "totalRupiah",
          ${NET_RUPIAH} as "netRupiah"
        from payment_hour_totals
        where merchant_id = $1 and status = any($2) and hour >= $3 and hour <= $4
        group by 1, 2
      )
      select counted_at as "asOf", (select coalesce(json_agg(bar order by at, status), '[]') from bar) as bars
      from totals_progress`,
    values: [merchantId, statuses, from, to, unit, zone],
  });
  return barsSchema.parse(onlyRow(rows));
}

/** Payments that were created in a period, over its hours, by their status now. */
export interface PeriodFigure {
  readonly payments: number;
  readonly totalRupiah: number;
  /** The sum over the payments whose money the merchant has. */
  readonly netRupiah: number;
  readonly asOf: Date;
  /** Payments of the period are in the archive: the figure counts them, and a list does not have them. */
  readonly hasArchivedDays: boolean;
}

export async function readPeriodFigure(
  db: Queryable,
  { merchantId, from, to }: FigurePeriod,
  {
    statuses,
    provider = null,
  }: { readonly statuses: readonly PaymentStatus[]; provider?: ProviderName | null | undefined },
): Promise<PeriodFigure> {
  const { rows } = await db.query<PeriodFigure>({
    name: 'read_period_figure',
    text: `select coalesce(sum(payments), 0)::integer as payments,
        coalesce(sum(total_rupiah), 0)::bigint as "totalRupiah", ${NET_RUPIAH} as "netRupiah",
        (select counted_at from totals_progress) as "asOf",
        exists (select from archive_files where removal_began_at is not null
          and day between ($3 at time zone 'UTC')::date and ($4 at time zone 'UTC')::date) as "hasArchivedDays"
      from payment_hour_totals
      where merchant_id = $1 and status = any($2) and hour >= $3::timestamptz and hour <= $4::timestamptz
        and ($5::text is null or provider = $5)`,
    values: [merchantId, statuses, from, to, provider],
  });
  return onlyRow(rows);
}
