import { OBSTACLES_WITHOUT_ATTENTION, type PayoutObstacle } from '../../domain/payout-rejections';
import type { Queryable } from '../connection/pool';
import { bindStatement, literalList, prepareStatement } from '../connection/statement';
import { OBSTACLE } from '../transitions/payout-conditions';
import { FROM_PAYOUTS, isWindowOpen } from './find-payout';

/** Why an operator should look at an open payout, as PostgreSQL has it. */
export type PayoutAttentionReason = keyof typeof REASONS;

export interface PayoutNeedingAttention {
  readonly payoutId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly reason: PayoutAttentionReason;
  readonly since: Date;
  /** What keeps back a payout that was not sent; null: nothing does. */
  readonly obstacle: PayoutObstacle | null;
  /** What the merchant receives. */
  readonly amountRupiah: number;
}

/** An obstacle of minutes needs no other operator than the one who set it. */
const DEFERRED_GRACE = "interval '1 hour'";
/** The workflow submits a payout within seconds, and the sweeper wakes it every 30 s. */
const SUBMIT_GRACE = "interval '10 minutes'";

/** Whether the workflow of `payout`, which has this obstacle and `policy`, should have submitted it before a time. */
export function isNotSent(payout: string, obstacle: string, at: string): string {
  return `${payout}.status = 'approved' and ${payout}.updated_at < ${at} - ${SUBMIT_GRACE} and ${obstacle} is null
        and ${isWindowOpen(`${at} - ${SUBMIT_GRACE}`)} and ${isWindowOpen(at)}`;
}

interface Reason {
  readonly condition: string;
  readonly since: string;
}

/** The first that is true. The bank's status is not stored: whether it knows a payout is what the last call led to. */
const REASONS = {
  waiting_for_approval: {
    condition: "status = 'requested' and approval_kind = 'operator'",
    since: 'requested_at',
  },
  deferred: {
    condition: `status = 'approved' and updated_at < :at::timestamptz - ${DEFERRED_GRACE}
      and obstacle not in (${literalList(OBSTACLES_WITHOUT_ATTENTION)})`,
    since: 'updated_at',
  },
  not_sent: { condition: 'is_not_sent', since: 'updated_at' },
  not_found: {
    condition: `status = 'submitted' and send_outcome is distinct from 'accepted'
      and last_sent_at < :at::timestamptz - not_found_after`,
    since: 'last_sent_at + not_found_after',
  },
  indeterminate: {
    condition: `status = 'submitted' and send_outcome is distinct from 'accepted'
      and last_sent_at < :at::timestamptz - expected_within`,
    since: 'last_sent_at + expected_within',
  },
  overdue: {
    condition: "status = 'submitted' and last_sent_at < :at::timestamptz - expected_within",
    since: 'last_sent_at + expected_within',
  },
} as const satisfies Readonly<Record<string, Reason>>;

const whenEach = (valueOf: (name: string, reason: Reason) => string): string =>
  Object.entries(REASONS)
    .map(([name, reason]) => `when ${reason.condition} then ${valueOf(name, reason)}`)
    .join('\n        ');

const LIST = prepareStatement(
  'list_payouts_needing_attention',
  ['at', 'limit'],
  `select "payoutId", "referenceId", "merchantId", reason, since, obstacle, amount_rupiah as "amountRupiah"
   from (
     select id as "payoutId", reference_id as "referenceId", merchant_id as "merchantId", obstacle, amount_rupiah,
       case
        ${whenEach((name) => `'${name}'`)}
       end as reason,
       case
        ${whenEach((_, { since }) => since)}
       end as since
     from (
       select payout.id, payout.reference_id, payout.merchant_id, payout.amount_rupiah, payout.status,
         payout.approval_kind, payout.requested_at, payout.updated_at, payout.send_outcome, payout.last_sent_at,
         ${OBSTACLE} as obstacle, policy.expected_within_seconds * interval '1 second' as expected_within,
         (select not_found_seconds * interval '1 second' from payout_limits order by id desc limit 1)
           as not_found_after,
         ${isNotSent('payout', OBSTACLE, ':at::timestamptz')} as is_not_sent
       ${FROM_PAYOUTS} join payout_policies policy on policy.id = payout.payout_policy_id
       where payout.status in ('requested', 'approved', 'submitted')
     ) open_payout
   ) payout
   where reason is not null
   order by since, "payoutId" limit :limit`,
);

/** Open payouts that wait for an operator, the longest first. */
export async function listPayoutsNeedingAttention(
  db: Queryable,
  at: Date,
  limit: number,
): Promise<PayoutNeedingAttention[]> {
  const { rows } = await db.query<PayoutNeedingAttention>(bindStatement(LIST, { at, limit }));
  return rows;
}
