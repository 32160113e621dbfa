import { OBSTACLES_WITHOUT_ATTENTION, type PayoutObstacle } from '../../domain/payout-rejections';
import { OPEN_PAYOUT_STATUSES } from '../../domain/payout-transitions';
import type { PAYOUT_ATTENTION_REASONS } from '../../observability/definitions';
import type { Queryable } from '../connection/pool';
import { bindStatement, literalList, prepareStatement } from '../connection/statement';
import { obstacleAt, obstacleJoins } from '../transitions/payout-conditions';
import { isWindowOpen } from './find-payout';

/** Why an operator should look at an open payout. */
export type PayoutAttentionReason = (typeof PAYOUT_ATTENTION_REASONS)[number];

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
/** A call without a certain response is repeated, and the bank is asked, for so long. */
const INDETERMINATE_GRACE = "interval '10 minutes'";
/** What its rail takes. */
const EXPECTED_WITHIN = "policy.expected_within_seconds * interval '1 second'";
const NOT_FOUND_AFTER = "not_found_seconds * interval '1 second'";

interface Reason {
  readonly condition: string;
  readonly since: string;
}

/** The first that is true. The bank's status is not stored: whether it knows a payout is what the last call led to. */
const reasonsAt = (at: string) => ({
  waiting_for_approval: {
    condition: "status = 'requested' and approval_kind = 'operator'",
    since: 'requested_at',
  },
  deferred: {
    condition: `status = 'approved' and updated_at < ${at} - ${DEFERRED_GRACE}
          and obstacle not in (${literalList(OBSTACLES_WITHOUT_ATTENTION)})`,
    since: 'updated_at',
  },
  not_sent: {
    condition: `status = 'approved' and updated_at < ${at} - ${SUBMIT_GRACE} and obstacle is null
          and ${isWindowOpen(`${at} - ${SUBMIT_GRACE}`)} and ${isWindowOpen(at)}`,
    since: 'updated_at',
  },
  not_found: {
    condition: `status = 'submitted' and send_outcome is distinct from 'accepted'
          and last_sent_at < ${at} - ${NOT_FOUND_AFTER}`,
    since: `last_sent_at + ${NOT_FOUND_AFTER}`,
  },
  indeterminate: {
    condition: `status = 'submitted' and coalesce(send_outcome, 'indeterminate') = 'indeterminate'
          and last_sent_at < ${at} - ${INDETERMINATE_GRACE}`,
    since: `last_sent_at + ${INDETERMINATE_GRACE}`,
  },
  overdue: {
    condition: `status = 'submitted' and send_outcome <> 'indeterminate' and last_sent_at < ${at} - ${EXPECTED_WITHIN}`,
    since: `last_sent_at + ${EXPECTED_WITHIN}`,
  },
});

/** Open payouts with why an operator should look at them at a time, and since when; `reason` is null if none should. */
export function payoutsWithReason(at: string): string {
  const reasons = Object.entries(reasonsAt(at) satisfies Readonly<Record<PayoutAttentionReason, Reason>>);
  const whenEach = (valueOf: (name: string, reason: Reason) => string) =>
    reasons.map(([name, reason]) => `when ${reason.condition} then ${valueOf(name, reason)}`).join('\n        ');
  // A payout that was sent has no obstacle: the statement reads what they depend on for the others only.
  return `
    select open_payout.id, reference_id, open_payout.merchant_id, amount_rupiah, obstacle,
      case
        ${whenEach((name) => `'${name}'`)}
      end as reason,
      case
        ${whenEach((_, { since }) => since)}
      end as since
    from payouts open_payout
      join payout_policies policy on policy.id = open_payout.payout_policy_id
      cross join (select not_found_seconds from payout_limits order by id desc limit 1) limits
      left join lateral (
        select ${obstacleAt(at)} as obstacle
        from merchants merchant ${obstacleJoins({
          account: 'account.id = open_payout.bank_account_id',
          source: 'source.id = open_payout.provider_account_id',
        })}
        where open_payout.status = 'approved' and merchant.id = open_payout.merchant_id
      ) obstacles on true
    where open_payout.status in (${literalList(OPEN_PAYOUT_STATUSES)})`;
}

const LIST = prepareStatement(
  'list_payouts_needing_attention',
  ['at', 'limit'],
  `select id as "payoutId", reference_id as "referenceId", merchant_id as "merchantId", reason, since, obstacle,
     amount_rupiah as "amountRupiah"
   from (${payoutsWithReason(':at::timestamptz')}
   ) payout
   where reason is not null
   order by since, id limit :limit`,
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
