import { z } from 'zod';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

const rowSchema = z.object({
  id: z.number(),
  /** Null: an operator of Lunas. */
  userId: z.string().nullable(),
  userName: z.string().nullable(),
  action: z.string(),
  target: z.string(),
  requestedAt: z.coerce.date(),
  /** Null for operators. */
  address: z.string().nullable(),
  /** Null: the process ended before it recorded an outcome, or the action is not over. */
  outcome: z.enum(['succeeded', 'rejected', 'indeterminate']).nullable(),
});

/** An action of a member, or of an operator, on a merchant. */
export type MerchantActionRow = z.infer<typeof rowSchema>;

export interface MerchantActionFilter {
  readonly merchantId: string;
  /** The id of a user, or `OPERATORS`. */
  readonly person: string | null;
  readonly action: string | null;
  /** Inclusive, as is `to`; null: not limited. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** All operators, as one person. */
export const OPERATORS = 'lunas';

/** Where a page begins, exclusive: with the nearest action in the direction. */
export interface ActionStart {
  readonly direction: 'older' | 'newer';
  readonly than: number;
}

export interface MerchantActionPage {
  /** In the order of the direction. */
  readonly actions: readonly MerchantActionRow[];
  /** The endpoints that are not deleted, so that they have a page. */
  readonly endpointIds: readonly string[];
  /** The last action that was compared with the filter, if there may be more behind it. */
  readonly searchedTo: number | null;
}

/** How many actions a page compares at most with a filter that has no index. */
const MAX_SEARCHED = 2_000;

const ORDERS = { older: { comparison: '<', order: 'id desc' }, newer: { comparison: '>', order: 'id' } } as const;

const statementOf = ({ comparison, order }: (typeof ORDERS)[ActionStart['direction']]) => `
  with searched as (
    select * from (
      (select id, user_id, action, target, requested_at, address, null as known_outcome
       from user_actions where merchant_id = $1 and id ${comparison} $2::bigint order by ${order} limit $7)
      union all
      (select id, null, action, target, requested_at, null, outcome
       from merchant_operator_actions where merchant_id = $1 and id ${comparison} $2::bigint order by ${order} limit $7)
    ) recorded order by ${order} limit $7
  ), found as (
    select * from searched
    where ($3::text is null or coalesce(user_id::text, '${OPERATORS}') = $3) and ($4::text is null or action = $4)
      and ($5::timestamptz is null or requested_at >= $5) and ($6::timestamptz is null or requested_at <= $6)
    order by ${order} limit $8
  ), people as materialized (
    select id, name from users where id = any(array(select distinct user_id from found))
  ), outcomes as materialized (
    select action_id, outcome from user_action_outcomes
    where action_id = any(array(select id from found where known_outcome is null))
  ), shown as (
    select found.id, found.user_id as "userId", people.name as "userName", found.action, found.target,
      found.requested_at as "requestedAt", host(found.address) as address,
      coalesce(found.known_outcome, outcomes.outcome) as outcome
    from found left join people on people.id = found.user_id
      left join outcomes on outcomes.action_id = found.id
  )
  select (select count(*)::integer from searched) as count,
    (select id from searched order by id ${comparison === '<' ? 'asc' : 'desc'} limit 1) as last,
    (select coalesce(json_agg(shown order by ${order}), '[]') from shown) as actions,
    (select coalesce(json_agg(id), '[]') from webhook_endpoints where merchant_id = $1 and deleted_at is null)
      as "endpointIds"`;

const STATEMENTS = { older: statementOf(ORDERS.older), newer: statementOf(ORDERS.newer) };

const pageSchema = z.object({
  count: z.number(),
  last: z.number().nullable(),
  actions: z.array(rowSchema),
  endpointIds: z.array(z.string()),
});

/**
 * At most `limit` actions that the filter selects, those nearest to the start first. The indexes have merchant and id:
 * a filter is compared with at most 2,000 actions, and the next page continues behind them.
 * @param start null: with the newest action
 */
export async function listMerchantActions(
  db: Queryable,
  filter: MerchantActionFilter,
  start: ActionStart | null,
  limit: number,
): Promise<MerchantActionPage> {
  const { merchantId, person, action, from, to } = filter;
  const { direction, than } = start ?? { direction: 'older', than: Number.MAX_SAFE_INTEGER };
  const isFiltered = [person, action, from, to].some((value) => value !== null);
  const maxRead = isFiltered ? Math.max(MAX_SEARCHED, limit) : limit;
  const { rows } = await db.query({
    name: `list_merchant_actions_${direction}`,
    text: STATEMENTS[direction],
    values: [merchantId, than, person, action, from, to, maxRead, limit],
  });
  const { count, last, actions, endpointIds } = pageSchema.parse(onlyRow(rows));
  return { actions, endpointIds, searchedTo: count === maxRead && actions.length < limit ? last : null };
}
