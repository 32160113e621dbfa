import type { PayoutBasis } from '../../domain/payout-preview';
import type { Queryable } from '../connection/pool';
import { requireRow } from '../connection/require-row';
import { bindStatement, prepareStatement } from '../connection/statement';
import { OBSTACLE, obstacleJoins } from '../transitions/payout-conditions';

/** A payout of more lines would hold locks for too long. The next payout pays the others. */
const MAX_LINES = 100_000;

interface BasisRow extends Omit<PayoutBasis, 'account'> {
  readonly accountId: string | null;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly usableFrom: Date;
}

/**
 * The longest beginning of the unclaimed lines, oldest first, whose sum is at most the balance and the largest amount
 * of a rail; or the lines up to a posting that was shown before.
 */
const BASIS = prepareStatement(
  'read_payout_basis',
  ['merchantId', 'at', 'upToPostingId'],
  `
with policy as (
  select * from payout_policies
  where is_enabled and not exists (
    select from payout_policies newer
    where newer.rail = payout_policies.rail and newer.version > payout_policies.version)
),
line as materialized (
  select posting_id, kind, amount_rupiah, sum(amount_rupiah) over (order by posting_id) as rupiah
  from (
    select * from balance_transactions where merchant_id = :merchantId and payout_id is null
    order by posting_id limit ${MAX_LINES}
  ) unclaimed
),
balance as (
  select coalesce(sum(amount_rupiah), 0)::bigint as rupiah
  from balance_transactions where merchant_id = :merchantId and payout_id is null
),
payable as (
  select posting_id, line.rupiah::bigint from line, balance
  where line.rupiah <= balance.rupiah and (:upToPostingId::bigint is null or posting_id = :upToPostingId)
    and (exists (select from policy where max_rupiah is null)
      or line.rupiah <= (select max(max_rupiah) from policy))
  order by posting_id desc limit 1
)
select ${OBSTACLE} as obstacle, account.id as "accountId", account.bank_code as "bankCode",
  account.last_four as "lastFour", account.usable_from as "usableFrom", source.id as "providerAccountId",
  balance.rupiah as "balanceRupiah", payable.rupiah as "grossRupiah", payable.posting_id as "upToPostingId",
  (
    select coalesce(json_agg(json_build_object('kind', kind, 'count', count, 'rupiah', rupiah) order by kind), '[]')
    from (
      select kind, count(*), sum(amount_rupiah) as rupiah from line
      where line.posting_id <= payable.posting_id group by kind
    ) of_kind
  ) as lines,
  (
    select coalesce(json_agg(json_build_object('id', id, 'rail', rail, 'feeRupiah', fee_rupiah,
      'minRupiah', min_rupiah, 'maxRupiah', max_rupiah, 'opensAt', opens_at::text, 'closesAt', closes_at::text,
      'days', days) order by id), '[]') from policy
  ) as policies,
  (
    select coalesce(json_agg(day order by day), '[]') from bank_holidays
    where day >= booking_day(:at::timestamptz)
  ) as holidays
from merchants merchant${obstacleJoins({
    account: "account.merchant_id = merchant.id and account.status in ('active', 'suspended')",
    source: 'true',
  })}
  cross join balance left join payable on true
where merchant.id = :merchantId`,
);

/**
 * What a payout of the merchant would be now.
 * @param upToPostingId null: as much as possible
 * @throws NotFoundError if there is no such merchant
 */
export async function readPayoutBasis(
  db: Queryable,
  merchantId: string,
  { at, upToPostingId }: { readonly at: Date; readonly upToPostingId: number | null },
): Promise<PayoutBasis> {
  const { rows } = await db.query<BasisRow>(bindStatement(BASIS, { merchantId, at, upToPostingId }));
  const { accountId, bankCode, lastFour, usableFrom, ...basis } = requireRow(rows, 'merchant', merchantId);
  return { ...basis, account: accountId === null ? null : { id: accountId, bankCode, lastFour, usableFrom } };
}
