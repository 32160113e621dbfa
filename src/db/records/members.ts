import type { MemberRole } from '../../domain/member-roles';
import type { Queryable } from '../connection/pool';

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
  /** Null: never, or more than a month ago. */
  readonly lastSeenAt: Date | null;
  readonly disabledAt: Date | null;
}

/** The members of a merchant, or of all if it is null, the oldest first. */
export async function listMemberRows(db: Queryable, merchantId: string | null): Promise<Member[]> {
  const { rows } = await db.query<Member>(
    `select person.id as "userId", member.merchant_id as "merchantId", person.email, person.name, member.role,
       member.invited_by as "invitedBy", member.created_at as "memberSince", person.disabled_at as "disabledAt",
       person.sealed_totp is not null or exists (select from passkeys where passkeys.user_id = person.id)
         as "hasSecondFactor",
       (select max(last_seen_at) from sessions where sessions.user_id = person.id) as "lastSeenAt"
     from members member join users person on person.id = member.user_id
     where ($1::uuid is null or member.merchant_id = $1) and member.removed_at is null
     order by member.created_at, person.id`,
    [merchantId],
  );
  return rows;
}

interface MemberChange {
  readonly merchantId: string;
  readonly userId: string;
  /** Null: the member is removed. */
  readonly role: MemberRole | null;
  readonly now: Date;
}

/**
 * Changes the role of a member, or removes it. The owners are locked: of two owners who remove each other at the same
 * time, one stays. A disabled user is no owner who could act.
 * @returns `last_owner` if no other owner would be left
 */
export async function changeMemberRow(
  db: Queryable,
  { merchantId, userId, role, now }: MemberChange,
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
       returning 1
     )
     select exists (select from changed) as "isChanged",
       exists (select from members where merchant_id = $1 and user_id = $2 and removed_at is null) as "isKnown"`,
    [merchantId, userId, role, now],
  );
  if (rows[0]?.isChanged) return 'changed';
  return rows[0]?.isKnown ? 'last_owner' : 'unknown';
}
