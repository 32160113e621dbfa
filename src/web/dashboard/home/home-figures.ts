import type { Queryable } from '../../../db/connection/pool';
import { listFigureBars } from '../../../db/payments/payment-figures';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import { dayOf, endOfDay, startOfDay, type Locale } from '../../ui/format';
import { PAYMENT_GROUPS } from '../payments/payment-groups';
import type { HomeBar, Range, ShownFigures } from './home-range';

const DAYS = { today: 1, '7d': 7, '30d': 30 } as const satisfies Record<Range, number>;
const PAID: readonly PaymentStatus[] = PAYMENT_GROUPS.paid;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Reads the figures of the range that ends today, in the zone of the merchant. */
export async function readHomeFigures(
  db: Queryable,
  merchantId: string,
  { range, now, zone }: { readonly range: Range; readonly now: Date; readonly zone: Locale['zone'] },
): Promise<ShownFigures> {
  const to = dayOf(now, zone);
  const from = dayOf(new Date(now.getTime() - (DAYS[range] - 1) * DAY_MS), zone);
  const period = { merchantId, from: startOfDay(from, zone), to: endOfDay(to, zone) };
  const unit = range === 'today' ? 'hour' : 'day';
  const found = await listFigureBars(db, period, { statuses: PAYMENT_GROUPS.tried, unit, zone });
  const rows = found.bars;
  const paid = rows.filter(({ status }) => PAID.includes(status));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const stepMs = unit === 'hour' ? HOUR_MS : DAY_MS;
  const bars = Array.from({ length: unit === 'hour' ? 24 : DAYS[range] }, (_, index): HomeBar => {
    const at = new Date(period.from.getTime() + index * stepMs);
    const ofBar = paid.filter((row) => row.at.getTime() === at.getTime());
    return {
      at,
      day: dayOf(at, zone),
      payments: sum(ofBar.map(({ payments }) => payments)),
      paidRupiah: sum(ofBar.map(({ totalRupiah }) => totalRupiah)),
    };
  });
  return {
    range,
    from,
    to,
    payments: sum(paid.map(({ payments }) => payments)),
    paidRupiah: sum(paid.map(({ totalRupiah }) => totalRupiah)),
    netRupiah: sum(paid.map(({ netRupiah }) => netRupiah)),
    tried: sum(rows.map(({ payments }) => payments)),
    bars,
    asOf: found.asOf,
  };
}
