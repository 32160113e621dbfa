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

const LIST_DUE = prepareStatement(
  'list_due_merchants',
  ['day', 'after', 'merchantIds'],
  `select merchant_id as "merchantId", minimum_rupiah as "minimumRupiah" from payout_settings settings
   where (:after::uuid is null or merchant_id > :after)
     and (:merchantIds::uuid[] is null or merchant_id = any (:merchantIds))
     and (schedule = 'daily' or schedule = 'weekly' and weekday = extract(isodow from :day::date))
     and exists (
       select from balance_transactions line where line.merchant_id = settings.merchant_id and line.payout_id is null)
   order by merchant_id limit ${DUE_MERCHANTS_PAGE}`,
);

/** A page of the merchants who are due on a day and have something to pay, by their ids. */
export async function listDueMerchants(
  db: Queryable,
  { day, after, merchantIds }: ScheduledPayoutsPart,
): Promise<DueMerchant[]> {
  const { rows } = await db.query<DueMerchant>(bindStatement(LIST_DUE, { day, after, merchantIds }));
  return rows;
}

/** When those of these payouts that exist were requested. */
export async function findRequestTimes(db: Queryable, payoutIds: readonly string[]): Promise<Date[]> {
  const { rows } = await db.query<{ requestedAt: Date }>({
    name: 'find_request_times',
    text: 'select requested_at as "requestedAt" from payouts where id = any ($1::uuid[])',
    values: [payoutIds],
  });
  return rows.map(({ requestedAt }) => requestedAt);
}
