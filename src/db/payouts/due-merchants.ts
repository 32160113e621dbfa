import type { ScheduledPayoutsPart } from '../../domain/payout-schedule';
import type { Queryable } from '../connection/pool';
import { bindStatement, prepareStatement } from '../connection/statement';

export const DUE_MERCHANTS_PAGE = 500;

/** A merchant whose balance is paid out on a day. */
export interface DueMerchant {
  readonly merchantId: string;
  /** The smallest amount of a payout. */
  readonly minimumRupiah: number;
}

/** The newest day of a weekly merchant. */
const DUE_ON = `(:day::date - (extract(isodow from :day::date)::integer - weekday + 7) % 7)`;

/** On its day; and later, if it had something to pay then, and has had no payout since. */
const IS_WEEKLY_DUE = `${DUE_ON} = :day::date or (
       booking_day(changed_at) < ${DUE_ON}
       and not exists (
         select from payouts payout
         where payout.merchant_id = settings.merchant_id and booking_day(payout.requested_at) >= ${DUE_ON})
       and minimum_rupiah <= (
         select closing_rupiah from balance_days closing
         where closing.merchant_id = settings.merchant_id and day < ${DUE_ON} order by day desc limit 1))`;

const LIST_DUE = prepareStatement(
  'list_due_merchants',
  ['day', 'after', 'merchantIds'],
  `select merchant_id as "merchantId", minimum_rupiah as "minimumRupiah" from payout_settings settings
   where (:after::uuid is null or merchant_id > :after)
     and (:merchantIds::uuid[] is null or merchant_id = any (:merchantIds))
     and (schedule = 'daily' or schedule = 'weekly' and (${IS_WEEKLY_DUE}))
     and exists (
       select from balance_transactions line where line.merchant_id = settings.merchant_id and line.payout_id is null)
   order by merchant_id limit ${DUE_MERCHANTS_PAGE}`,
);

/** Merchants who are due on a day and have something to pay: a page by their ids. One who was held up stays due. */
export async function listDueMerchants(
  db: Queryable,
  { day, after, merchantIds }: ScheduledPayoutsPart,
): Promise<DueMerchant[]> {
  const { rows } = await db.query<DueMerchant>(bindStatement(LIST_DUE, { day, after, merchantIds }));
  return rows;
}

/** When the payouts among these that exist were requested. */
export async function findRequestTimes(db: Queryable, payoutIds: readonly string[]): Promise<Date[]> {
  const { rows } = await db.query<{ requestedAt: Date }>({
    name: 'find_request_times',
    text: 'select requested_at as "requestedAt" from payouts where id = any ($1::uuid[])',
    values: [payoutIds],
  });
  return rows.map(({ requestedAt }) => requestedAt);
}
