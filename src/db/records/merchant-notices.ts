import { describeAccount } from '../../domain/banks';
import { LOGIN_NOTICE_KINDS, type ChangedCredential, type NoticeKind } from '../../domain/notice-kinds';
import type { Queryable } from '../connection/pool';

/** The SQL of the merchant, the target and the time of a notice. */
interface NoticeSql {
  readonly kind: NoticeKind;
  readonly merchant: string;
  readonly target: string;
  readonly at: string;
  /** What follows `from`: one notice for each of its rows. */
  readonly from: string;
}

/** A part of a statement that changes access: without the change there is no notice, and with it there is one. */
export function insertNotices({ kind, merchant, target, at, from }: NoticeSql): string {
  return `insert into merchant_notices (merchant_id, kind, target_id, occurred_at)
    select ${merchant}, '${kind}', ${target}, ${at} from ${from}`;
}

/** As `insertNotices`, for each merchant of which the user is a member. */
export const insertNoticesOfUser = (kind: NoticeKind, user: string, at: string): string =>
  insertNotices({
    kind,
    merchant: 'merchant_id',
    target: 'user_id',
    at,
    from: `members where user_id = ${user} and removed_at is null`,
  });

/** Gives the merchants of a user a notice of several wrong codes. */
export async function insertWrongCodeNotices(db: Queryable, userId: string, now: Date): Promise<void> {
  await db.query(insertNoticesOfUser('security.wrong_codes', '$1', '$2::timestamptz'), [userId, now]);
}

/** Whether a member sees a notice. */
const IS_SHOWN = `(member.role = 'owner' or notice.target_id = member.user_id
  and notice.kind in (${LOGIN_NOTICE_KINDS.map((kind) => `'${kind}'`).join(', ')}))`;

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

/** What waited for an approval, and waits no more. */
const IS_SOLVED = `case notice.kind
    when 'payout.waiting_for_approval' then (select status <> 'requested' from payouts where id = notice.target_id)
    when 'payout.schedule_proposed' then not exists (
      select from proposed_payout_settings where merchant_id = notice.merchant_id)
    when 'bank_account.pending_approval' then account.status <> 'pending_approval'
    else false
  end`;

/** A notice that a user has not closed. */
export interface OpenNotice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly targetId: string;
  /** The name of the user or the key, the origin of the endpoint's URL, a reference, `BCA •••• 1234`; null: none. */
  readonly targetName: string | null;
  /** The credentials of a changed login. */
  readonly changed: readonly ChangedCredential[];
  readonly occurredAt: Date;
  /** The user did it. */
  readonly isOwn: boolean;
}

/** More than anybody reads: of older ones none is shown. */
const NEWEST = 50;

/**
 * The newest first, none that is older than the membership, and none that is solved. A member who is no owner sees
 * those of the own login.
 */
export async function listOpenNotices(
  db: Queryable,
  { merchantId, userId }: { readonly merchantId: string; readonly userId: string },
): Promise<OpenNotice[]> {
  const { rows } = await db.query<OpenNotice & { readonly bankCode: string | null; readonly lastFour: string | null }>({
    name: 'list_open_notices',
    text: `select notice.id, notice.kind, notice.target_id as "targetId", notice.changed,
        notice.occurred_at as "occurredAt",
        coalesce((select users.name from users where users.id = notice.target_id),
          (select reference_id from payouts where payouts.id = notice.target_id),
          (select api_keys.name from api_keys where api_keys.id = notice.target_id),
          (select substring(url from '^[^:/?#]+://[^/?#]+') from webhook_endpoints endpoint
           where endpoint.id = notice.target_id)) as "targetName",
        account.bank_code as "bankCode", account.last_four as "lastFour",
        coalesce(${ACTOR} = 'user:' || $2::uuid, false) as "isOwn"
      from (select * from merchant_notices where merchant_id = $1 order by id desc limit ${NEWEST}) notice
      join members member on member.merchant_id = $1 and member.user_id = $2 and member.removed_at is null
        and member.created_at < notice.occurred_at and ${IS_SHOWN}
      left join bank_accounts account on account.id = notice.target_id
      where (${IS_SOLVED}) is not true and not exists (
        select from merchant_notice_closings where notice_id = notice.id and merchant_notice_closings.user_id = $2)
      order by notice.id desc`,
    values: [merchantId, userId],
  });
  return rows.map(({ id, kind, targetId, targetName, changed, occurredAt, isOwn, bankCode, lastFour }) => {
    const accountName = bankCode === null || lastFour === null ? null : describeAccount(bankCode, lastFour);
    return { id, kind, targetId, targetName: accountName ?? targetName, changed, occurredAt, isOwn };
  });
}

interface NoticeClosing {
  readonly merchantId: string;
  readonly userId: string;
  readonly noticeId: number;
  /** Closes the older ones too. */
  readonly withOlder: boolean;
  readonly now: Date;
}

/** Closes a notice for one user, once. @returns false if the merchant has no such notice, or the user may not see it */
export async function insertNoticeClosing(
  db: Queryable,
  { merchantId, userId, noticeId, withOlder, now }: NoticeClosing,
): Promise<boolean> {
  const { rows } = await db.query<{ isKnown: boolean }>(
    `with notice as (
       select notice.id
       from (select * from merchant_notices where merchant_id = $1 and id <= $3 order by id desc limit $5) notice
       join members member on member.merchant_id = notice.merchant_id and member.user_id = $2
         and member.removed_at is null and ${IS_SHOWN}
     ),
     closed as (
       insert into merchant_notice_closings (notice_id, user_id, closed_at) select id, $2, $4 from notice
       on conflict do nothing
     )
     select exists (select from notice where id = $3) as "isKnown"`,
    [merchantId, userId, noticeId, now, withOlder ? NEWEST : 1],
  );
  return rows[0]?.isKnown ?? false;
}
