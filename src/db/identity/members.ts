import { NIL } from 'uuid';
import type { MemberRole } from '../../domain/member-roles';
import type { ApprovalKind } from '../../domain/payout';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

/** A user in the list of a team. */
export interface Member {
  readonly userId: string;
  readonly merchantId: string;
  readonly email: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly invitedBy: string;
  readonly memberSince: Date;
  readonly hasSecondFactor: boolean;
  /** The last visit of a page of this merchant. Null: never. */
  readonly lastSeenAt: Date | null;
  readonly disabledAt: Date | null;
}

const MEMBER_COLUMNS = `person.id as "userId", member.merchant_id as "merchantId", person.email, person.name,
  member.role, member.invited_by as "invitedBy", member.created_at as "memberSince",
  person.disabled_at as "disabledAt", member.last_seen_at as "lastSeenAt",
  person.sealed_totp is not null or exists (select from passkeys where passkeys.user_id = person.id)
    as "hasSecondFactor"`;

/** Where a page of a team begins, exclusive. */
export type TeamPosition = Pick<Member, 'memberSince' | 'userId'>;

/** @param after null: from the oldest member on */
export async function listTeamPage(
  db: Queryable,
  merchantId: string,
  after: TeamPosition | null,
  limit: number,
): Promise<Member[]> {
  const { rows } = await db.query<Member>({
    name: 'list_team_page',
    text: `select ${MEMBER_COLUMNS}
      from (
        select * from members
        where merchant_id = $1 and removed_at is null
          and (created_at, user_id) > (coalesce($2::timestamptz, '-infinity'), $3::uuid)
        order by created_at, user_id limit $4
      ) member join users person on person.id = member.user_id
      order by member.created_at, person.id`,
    values: [merchantId, after?.memberSince ?? null, after?.userId ?? NIL, limit],
  });
  return rows;
}

/** More than the team of any merchant has. */
const MAX_TEAM = 500;

/** The members of a merchant, at most 500; the oldest first. */
export async function listMemberNames(db: Queryable, merchantId: string): Promise<Pick<Member, 'userId' | 'name'>[]> {
  const { rows } = await db.query<Pick<Member, 'userId' | 'name'>>({
    name: 'list_member_names',
    text: `select person.id as "userId", person.name from members member join users person on person.id = member.user_id
      where member.merchant_id = $1 and member.removed_at is null
      order by member.created_at, person.id limit ${MAX_TEAM}`,
    values: [merchantId],
  });
  return rows;
}

/** Who is no member of the merchant any more, at most 500; who left last is first. */
export async function listFormerMemberNames(
  db: Queryable,
  merchantId: string,
): Promise<Pick<Member, 'userId' | 'name'>[]> {
  const { rows } = await db.query<Pick<Member, 'userId' | 'name'>>({
    name: 'list_former_member_names',
    text: `select person.id as "userId", person.name from members member join users person on person.id = member.user_id
      where member.merchant_id = $1 and member.removed_at is not null
      order by member.removed_at desc, person.id limit ${MAX_TEAM}`,
    values: [merchantId],
  });
  return rows;
}

/** The members of a merchant, or of all merchants if it is null; the oldest first. */
export async function listMemberRows(db: Queryable, merchantId: string | null): Promise<Member[]> {
  const { rows } = await db.query<Member>(
    `select ${MEMBER_COLUMNS}
     from members member join users person on person.id = member.user_id
     where ($1::uuid is null or member.merchant_id = $1) and member.removed_at is null
     order by member.created_at, person.id`,
    [merchantId],
  );
  return rows;
}

/** Who was invited: a member, or a person who has not joined. */
export interface Invited {
  /** The name of the member who invited, also of one who has left; null: an operator. */
  readonly inviterName: string | null;
}

/** @param invitedBy SQL: `user:<id>`, or an operator */
export const inviterName = (merchantId: string, invitedBy: string) => `(
  select inviter.name from members inviting join users inviter on inviter.id = inviting.user_id
  where inviting.merchant_id = ${merchantId}
    and inviting.user_id = case when ${invitedBy} like 'user:%' then substr(${invitedBy}, 6)::uuid end)`;

export async function findMemberRow(
  db: Queryable,
  { merchantId, userId }: Pick<Member, 'merchantId' | 'userId'>,
): Promise<(Member & Invited) | undefined> {
  const { rows } = await db.query<Member & Invited>({
    name: 'find_member',
    text: `select ${MEMBER_COLUMNS}, ${inviterName('member.merchant_id', 'member.invited_by')} as "inviterName"
      from members member join users person on person.id = member.user_id
      where member.merchant_id = $1 and member.user_id = $2 and member.removed_at is null`,
    values: [merchantId, userId],
  });
  return rows[0];
}

/**
 * What PostgreSQL compares, too, whatever a statement is. `isAuthorised`: role and credentials of the member are old
 * enough to approve payouts, to propose a bank account and to change automatic payouts. `isSecondUser`: and the member
 * and the requester are two people, as far as it is known.
 */
export interface Authority {
  readonly isAuthorised: boolean;
  readonly isSecondUser: boolean;
}

/** @param requestedBy null: only `isAuthorised` is of interest */
export async function findAuthority(
  db: Queryable,
  { merchantId, userId }: Pick<Member, 'merchantId' | 'userId'>,
  requestedBy: string | null,
): Promise<Authority> {
  const { rows } = await db.query<Authority>({
    name: 'find_authority',
    text: `select authorises_payouts($1, $2) as "isAuthorised",
      coalesce(is_second_user($1, $2, $3), false) as "isSecondUser"`,
    values: [merchantId, userId, requestedBy],
  });
  return onlyRow(rows);
}

/** Who approves what an actor of the merchant requests, if its amount does not matter. */
export async function findRequiredApproval(
  db: Queryable,
  merchantId: string,
  requestedBy: string,
): Promise<ApprovalKind> {
  const { rows } = await db.query<{ kind: ApprovalKind }>({
    name: 'find_required_approval',
    text: 'select required_approval($1, $2) as kind',
    values: [merchantId, requestedBy],
  });
  return onlyRow(rows).kind;
}

interface ApproverSearch {
  readonly merchantId: string;
  readonly requestedBy: string;
  readonly limit: number;
}

/** The names of members who may approve a payout that this actor requested; the first members first. */
export async function listApproverNames(
  db: Queryable,
  { merchantId, requestedBy, limit }: ApproverSearch,
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: 'list_approver_names',
    text: `select person.name from members member join users person on person.id = member.user_id
      where member.merchant_id = $1 and is_second_user($1, member.user_id, $2)
      order by member.created_at, person.id limit $3`,
    values: [merchantId, requestedBy, limit],
  });
  return rows.map(({ name }) => name);
}

interface MemberVisit {
  readonly merchantId: string;
  readonly userId: string;
  readonly now: Date;
  readonly unlessSince: Date;
}

/** Records that a member opened a page of the merchant now, unless that was recorded since `unlessSince`. */
export async function recordMemberVisit(
  db: Queryable,
  { merchantId, userId, now, unlessSince }: MemberVisit,
): Promise<void> {
  await db.query({
    name: 'record_member_visit',
    text: `update members set last_seen_at = $3
      where merchant_id = $1 and user_id = $2 and (last_seen_at is null or last_seen_at < $4)`,
    values: [merchantId, userId, now, unlessSince],
  });
}

interface MemberChange {
  readonly merchantId: string;
  readonly userId: string;
  /** Null: the member is removed. */
  readonly role: MemberRole | null;
  /** Whether the keys end that the member created here. Absent: they stay. */
  readonly revokesKeys?: boolean;
  readonly now: Date;
}

/**
 * Changes the role of a member, or removes it. The owners are locked: of two owners who remove each other at the same
 * time, one stays. A disabled user is no owner who could act. Triggers set `role_since`, and give the owners a notice
 * of another owner and of a member who may approve payouts.
 * @returns `last_owner` if no other owner would be left
 */
export async function changeMemberRow(
  db: Queryable,
  { merchantId, userId, role, revokesKeys = false, now }: MemberChange,
): Promise<'changed' | 'last_owner' | 'unknown'> {
  const { rows } = await db.query<{ isChanged: boolean; isKnown: boolean }>(
    `with owners as materialized (
       select member.user_id from members member
       join users person on person.id = member.user_id and person.disabled_at is null
       where member.merchant_id = $1 and member.role = 'owner' and member.removed_at is null
       order by member.user_id for update of member
     ),
     changed as (
       update members set role = coalesce($3, role), removed_at = case when $3 is null then $4::timestamptz end
       where merchant_id = $1 and user_id = $2 and removed_at is null
         and ($3 is not distinct from 'owner' or role <> 'owner'
           or exists (select from owners where owners.user_id <> $2))
       returning merchant_id, user_id
     ),
     revoked as (
       update api_keys set revoked_at = $4 from changed
       where $5::boolean and api_keys.merchant_id = changed.merchant_id
         and created_by = 'user:' || changed.user_id and revoked_at is null
     )
     select exists (select from changed) as "isChanged",
       exists (select from members where merchant_id = $1 and user_id = $2 and removed_at is null) as "isKnown"`,
    [merchantId, userId, role, now, revokesKeys],
  );
  if (rows[0]?.isChanged) return 'changed';
  return rows[0]?.isKnown ? 'last_owner' : 'unknown';
}
