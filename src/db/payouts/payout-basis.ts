import type { PayableRun, PayoutBasis } from '../../domain/payout-preview';
import type { Queryable } from '../connection/pool';
import { requireRow } from '../connection/require-row';
import { bindStatement, prepareStatement } from '../connection/statement';
import { OBSTACLE, obstacleJoins } from '../transitions/payout-conditions';
import { MAX_PAYOUT_LINES } from '../transitions/payout-transitions';

interface BasisRow extends Omit<PayoutBasis, 'account' | 'run'>, Nullable<PayableRun> {
  readonly accountId: string | null;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly usableFrom: Date;
}

type Nullable<Columns> = { readonly [Name in keyof Columns]: Columns[Name] | null };

/** Whether a rail can send this gross amount. */
const fitsRail = (gross: string) => `exists (
      select from policy where ${gross} - fee_rupiah between min_rupiah and coalesce(max_rupiah, ${gross}))`;

/**
 * The run of the largest sum that the balance and a rail permit, within the oldest unclaimed lines. It begins with the
 * oldest line, or after the lowest sum: so a negative beginning, however large, keeps nothing back. If no run can be
 * paid, the balance is paid on account, without lines. The payout's own line stays in the balance then, until a later
 * payout claims it together with lines that are worth it. Those before a lowest sum stay for the same reason.
 */
const bestRun = (maxLines: number) => `
line as materialized (
  select posting_id, kind, amount_rupiah, sum(amount_rupiah) over (order by posting_id) as rupiah
  from (
    select posting_id, kind, amount_rupiah from balance_transactions
    where merchant_id = :merchantId and payout_id is null order by posting_id limit ${maxLines}
  ) unclaimed
),
beginning as (
  select 0 as posting_id, 0 as rupiah
  union all
  (select posting_id, rupiah from line where rupiah < 0 order by rupiah, posting_id limit 1)
),
run as (
  select beginning.posting_id as after, line.posting_id as up_to, line.rupiah - beginning.rupiah as rupiah
  from beginning join line on line.posting_id > beginning.posting_id
),
payable as (
  (
    select after, up_to, rupiah from run
    where rupiah <= (select rupiah from balance) and ${fitsRail('rupiah')}
    order by rupiah desc, after, up_to desc limit 1
  )
  union all
  (
    select 0, 0, least(balance.rupiah, max_rupiah + fee_rupiah) as gross from balance, policy
    where balance.rupiah - fee_rupiah >= min_rupiah order by gross desc limit 1
  )
  limit 1
)`;

/** The run that was shown before, if it has not become more than the balance. */
const SEEN_RUN = `
line as materialized (
  select posting_id, kind, amount_rupiah from balance_transactions
  where merchant_id = :merchantId and payout_id is null
    and posting_id > :afterPostingId::bigint and posting_id <= :upToPostingId::bigint
  order by posting_id limit ${MAX_PAYOUT_LINES}
),
payable as (
  select :afterPostingId::bigint as after, :upToPostingId::bigint as up_to, sum(amount_rupiah) as rupiah from line
  having sum(amount_rupiah) <= (select rupiah from balance)
)`;

function basisOf(run: string): string {
  return `
with policy as (
  select * from payout_policies
  where is_enabled and not exists (
    select from payout_policies newer
    where newer.rail = payout_policies.rail and newer.version > payout_policies.version)
),
balance as materialized (select available_balance(:merchantId) as rupiah),${run}
select ${OBSTACLE} as obstacle, (select cell from installation) as cell,
  account.id as "accountId", account.bank_code as "bankCode",
  account.last_four as "lastFour", account.usable_from as "usableFrom", source.id as "providerAccountId",
  balance.rupiah as "balanceRupiah", payable.rupiah::bigint as "grossRupiah",
  payable.after::bigint as "afterPostingId", payable.up_to::bigint as "upToPostingId",
  (
    select coalesce(json_agg(json_build_object('kind', kind, 'count', count, 'rupiah', rupiah) order by kind), '[]')
    from (
      select kind, count(*), sum(amount_rupiah) as rupiah from line
      where posting_id > payable.after and posting_id <= payable.up_to group by kind
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
where merchant.id = :merchantId`;
}

/** @param maxLines so many lines a payout has at most */
export function payoutBasisStatement(maxLines: number) {
  return prepareStatement(`read_payout_basis_${maxLines}`, ['merchantId', 'at'], basisOf(bestRun(maxLines)));
}

const BASIS = payoutBasisStatement(MAX_PAYOUT_LINES);

const SEEN_BASIS = prepareStatement(
  'read_seen_payout_basis',
  ['merchantId', 'at', 'afterPostingId', 'upToPostingId'],
  basisOf(SEEN_RUN),
);

/**
 * What a payout of the merchant would be now: as much as possible.
 * @throws NotFoundError if there is no such merchant
 */
export async function readPayoutBasis(
  db: Queryable,
  merchantId: string,
  at: Date,
  statement = BASIS,
): Promise<PayoutBasis> {
  const { rows } = await db.query<BasisRow>(bindStatement(statement, { merchantId, at }));
  return toBasis(requireRow(rows, 'merchant', merchantId));
}

/** The basis of a payout for lines that were shown before. */
export async function readSeenBasis(
  db: Queryable,
  merchantId: string,
  { afterPostingId, upToPostingId }: PayableRun,
  at: Date,
): Promise<PayoutBasis> {
  const values = { merchantId, at, afterPostingId, upToPostingId };
  const { rows } = await db.query<BasisRow>(bindStatement(SEEN_BASIS, values));
  return toBasis(requireRow(rows, 'merchant', merchantId));
}

function toBasis({ accountId, bankCode, lastFour, usableFrom, ...row }: BasisRow): PayoutBasis {
  const { grossRupiah, afterPostingId, upToPostingId, ...basis } = row;
  const isPayable = grossRupiah !== null && afterPostingId !== null && upToPostingId !== null;
  return {
    ...basis,
    account: accountId === null ? null : { id: accountId, bankCode, lastFour, usableFrom },
    run: isPayable ? { grossRupiah, afterPostingId, upToPostingId } : null,
  };
}
