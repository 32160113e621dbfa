import type { MemberRole } from '../../domain/member-roles';
import type { Queryable } from '../connection/pool';

/** A merchant that a user can choose. */
export interface ListedMembership {
  readonly code: string;
  readonly name: string;
  readonly role: MemberRole;
}

const MAX_LISTED = 200;

/** The merchants of which the user is a member, by name. */
export async function listMemberships(db: Queryable, userId: string): Promise<ListedMembership[]> {
  const { rows } = await db.query<ListedMembership>({
    name: 'list_memberships',
    text: `select merchant.code, merchant.name, member.role
      from members member join merchants merchant on merchant.id = member.merchant_id
      where member.user_id = $1 and member.removed_at is null order by merchant.name, merchant.id limit ${MAX_LISTED}`,
    values: [userId],
  });
  return rows;
}
