import { describeAccount } from '../../domain/banks';
import {
  GUARDED_NOTICE_HOURS,
  GUARDED_NOTICE_KINDS,
  type ChangedCredential,
  type NoticeKind,
} from '../../domain/notice-kinds';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';

/** Gives the merchants of a user a notice of several wrong codes. */
export async function noteWrongCodes(db: Queryable, userId: string): Promise<void> {
  await db.query('select note_wrong_codes($1)', [userId]);
}

/** Who did it, if that is recorded; the actor of a transition. Each kind reads its own table only. */
const ACTOR = `case notice.kind
    when 'security.factor_changed' then 'user:' || notice.target_id
    when 'security.recovery_code_used' then 'user:' || notice.target_id
    when 'payout.schedule_proposed' then 'user:' || notice.target_id
    when 'payout.schedule_changed' then 'user:' || notice.target_id
    when 'payout.waiting_for_approval' then (select requested_by from payouts where id = notice.target_id)
    when 'security.key_created' then (select created_by from api_keys where id = notice.target_id)
    when 'bank_account.pending_inquiry' then account.proposed_by
    when 'bank_account.pending_approval' then account.proposed_by
  end`;

const IS_OWN_MEMBERSHIP =
  "notice.kind in ('security.owner_changed', 'security.member_authorised', 'security.member_changed')";

/** What waited for an approval, and waits no more; an account that came to nothing. */
const IS_SOLVED = `case notice.kind
    when 'payout.waiting_for_approval' then (select status <> 'requested' from payouts where id = notice.target_id)
    when 'payout.schedule_proposed' then not exists (
      select from proposed_payout_settings where merchant_id = notice.merchant_id)
    when 'bank_account.pending_inquiry' then account.status in ('withdrawn', 'rejected')
    when 'bank_account.pending_approval' then account.status <> 'pending_approval'
    else false
  end`;

/** What the notice is about. What customers see of a merchant is shown as it is now. */
const TARGET_NAME = `case notice.kind
    when 'security.return_url_changed' then (select substring(return_url from '^[^:/?#]+://[^/?#]+') from merchants
      where merchants.id = notice.merchant_id)
    when 'security.contact_changed' then (select contact from merchants where merchants.id = notice.merchant_id)
    when 'security.origins_changed' then (select nullif(array_to_string(checkout_origins, ', '), '') from merchants
      where merchants.id = notice.merchant_id)
    when 'payment.other_amount' then (select reference_id from payments where payments.id = notice.target_id)
    else coalesce((select users.name from users where users.id = notice.target_id),
      (select reference_id from payouts where payouts.id = notice.target_id),
      (select api_keys.name from api_keys where api_keys.id = notice.target_id),
      (select substring(url from '^[^:/?#]+://[^/?#]+') from webhook_endpoints endpoint
       where endpoint.id = notice.target_id))
  end`;

/** A notice that a user has to see. */
export interface OpenNotice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly targetId: string;
  /**
   * The name of the user or the key, the origin of the endpoint's URL or of the return address, a reference, the
   * contact, the origins of frames, `BCA •••• 1234`; null: none.
   */
  readonly targetName: string | null;
  /** The credentials of a changed login. */
  readonly changed: readonly ChangedCredential[];
  /** How often it occurred since it was closed; all of them if it is shown although it is closed. */
  readonly times: number;
  /** How often it occurred at all: a user closes this much of it. */
  readonly count: number;
  /** The newest time. */
  readonly occurredAt: Date;
  /** The user did it, or it is about what the user may do. */
  readonly isOwn: boolean;
  /** The user closed it: it is shown until then. Null: it is shown until the user closes it. */
  readonly shownUntil: Date | null;
}

const IS_GUARDED = `notice.kind in (${literalList(GUARDED_NOTICE_KINDS)})`;
const SHOWN_UNTIL = `notice.occurred_at + interval '${GUARDED_NOTICE_HOURS} hours'`;
/** The notices of money and access are not cut by this limit. */
const MAX_OTHERS = 50;

/**
 * First those of money and access, of each the newest first; none that is older than the membership, and none that is
 * solved. A member who is no owner sees those of the own login.
 */
export async function listOpenNotices(
  db: Queryable,
  { merchantId, userId }: { readonly merchantId: string; readonly userId: string },
): Promise<OpenNotice[]> {
  const { rows } = await db.query<OpenNotice & { readonly bankCode: string | null; readonly lastFour: string | null }>({
    name: 'list_open_notices',
    text: `with visible as (
        select notice.*, ${IS_GUARDED} as is_guarded,
          closing.count is not distinct from notice.count as is_closed,
          notice.count - case when closing.count < notice.count then closing.count else 0 end as times,
          account.bank_code, account.last_four,
          coalesce(${ACTOR} = 'user:' || $2::uuid, ${IS_OWN_MEMBERSHIP} and notice.target_id = $2) as is_own,
          row_number() over (partition by ${IS_GUARDED} order by notice.occurred_at desc, notice.id desc) as position
        from merchant_notices notice
        join members member on member.merchant_id = $1 and member.user_id = $2 and is_shown_to(notice, member)
        left join merchant_notice_closings closing
          on closing.notice_id = notice.id and closing.user_id = $2
        left join bank_accounts account on account.id = notice.target_id
        where notice.merchant_id = $1 and notice.ended_at is null and (${IS_SOLVED}) is not true
          and (closing.count is distinct from notice.count or ${IS_GUARDED} and ${SHOWN_UNTIL} > now())
      )
      select id, kind, target_id as "targetId", changed, times, count, occurred_at as "occurredAt",
        ${TARGET_NAME} as "targetName", bank_code as "bankCode", last_four as "lastFour", is_own as "isOwn",
        case when is_closed then ${SHOWN_UNTIL} end as "shownUntil"
      from visible notice where is_guarded or position <= ${MAX_OTHERS}
      order by is_guarded desc, position`,
    values: [merchantId, userId],
  });
  return rows.map(
    ({ id, kind, targetId, targetName, changed, times, count, occurredAt, isOwn, shownUntil, ...account }) => {
      const { bankCode, lastFour } = account;
      const accountName = bankCode === null || lastFour === null ? null : describeAccount(bankCode, lastFour);
      const name = accountName ?? targetName;
      return { id, kind, targetId, targetName: name, changed, times, count, occurredAt, isOwn, shownUntil };
    },
  );
}

/** How much of a notice a user has seen. */
export type SeenNotice = Pick<OpenNotice, 'id' | 'count'>;

interface NoticeClosing {
  readonly merchantId: string;
  /** The value of the user's cookie: it proves to PostgreSQL who closes. */
  readonly sessionToken: string;
  readonly seen: readonly SeenNotice[];
}

/** Closes notices for the user of the session. @returns how many of them the user sees */
export async function insertNoticeClosings(
  db: Queryable,
  { merchantId, sessionToken, seen }: NoticeClosing,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select close_notices($1, $2, $3, $4) as count', [
    sessionToken,
    merchantId,
    seen.map(({ id }) => id),
    seen.map(({ count }) => count),
  ]);
  return rows[0]?.count ?? 0;
}
