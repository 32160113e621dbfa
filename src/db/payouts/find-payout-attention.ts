import { APPROVAL_PERIOD_DAYS } from '../../domain/payout';
import type { Queryable } from '../connection/pool';
import { ATTENTION_LIMIT } from '../operations/find-attention';

/** What of a merchant's payouts waits for a member, or has to be seen. */
export interface PayoutAttention {
  /** References of requests that this user may approve; the oldest first. */
  readonly waiting: readonly string[];
  /** References of payouts of the period that failed or came back; the newest first. */
  readonly unpaid: readonly string[];
}

/** @param since payouts that failed or came back before it are not counted */
export async function findPayoutAttention(
  db: Queryable,
  { merchantId, userId, since }: { readonly merchantId: string; readonly userId: string; readonly since: Date },
): Promise<PayoutAttention> {
  const { rows } = await db.query<PayoutAttention>({
    name: 'find_payout_attention',
    text: `with waiting as materialized (
        select reference_id, requested_by, requested_at from payouts
        where merchant_id = $1 and status = 'requested' and approval_kind = 'second_user'
          and requested_at > now() - interval '${APPROVAL_PERIOD_DAYS} days'
      ),
      requester as materialized (
        select requested_by from (select distinct requested_by from waiting) asked
        where is_second_user($1, $2, requested_by)
      )
      select
        array(select reference_id from waiting join requester using (requested_by)
          order by requested_at limit ${ATTENTION_LIMIT}) as waiting,
        array(select reference_id from payouts
          where merchant_id = $1 and status in ('failed', 'returned') and updated_at >= $3
            and requested_at > $3 - interval '30 days'
          order by requested_at desc limit ${ATTENTION_LIMIT}) as unpaid`,
    values: [merchantId, userId, since],
  });
  return rows[0] ?? { waiting: [], unpaid: [] };
}
