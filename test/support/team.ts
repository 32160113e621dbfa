import { v7 as uuidv7 } from 'uuid';
import { createSignInToken } from '../../src/crypto/sign-in-token';
import type { Queryable } from '../../src/db/connection/pool';
import { expireInvitation, insertInvitation } from '../../src/db/identity/invitations';
import { changeMemberRow } from '../../src/db/identity/members';
import { insertResetLink } from '../../src/db/identity/reset-links';
import type { MemberRole } from '../../src/domain/member-roles';

const HOUR_MS = 3_600_000;

/** What an operation rejects. */
class Refused extends Error {
  constructor(readonly reason: string) {
    super(reason);
  }
}

interface Link {
  readonly id: string;
  readonly token: string;
}

interface Invited {
  readonly merchantId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdBy: string;
}

/** An invitation that is made at this time. @throws Refused `is_member` */
export async function inviteAt(db: Queryable, invited: Invited, now: Date): Promise<Link> {
  const { token, tokenSha256 } = createSignInToken('link');
  const expiresAt = new Date(now.getTime() + 72 * HOUR_MS);
  const link = { ...invited, id: uuidv7(), tokenSha256, now, expiresAt };
  if (!(await insertInvitation(db, link))) throw new Refused('is_member');
  return { id: link.id, token };
}

/** An invitation that was used: only with one the dashboard makes a member. */
export async function useInvitation(db: Queryable, invited: Invited): Promise<void> {
  const { id } = await inviteAt(db, invited, new Date());
  await db.query('update sign_in_links set used_at = now() where id = $1', [id]);
}

interface Reset {
  readonly userId: string;
  readonly createdBy: string;
  /** Null: Lunas resets the login. */
  readonly merchantId: string | null;
}

/** A reset link that is made at this time. @throws Refused `unknown` or `other_merchants` */
export async function resetAt(db: Queryable, reset: Reset, now: Date): Promise<Link> {
  const { token, tokenSha256 } = createSignInToken('link');
  const link = { ...reset, id: uuidv7(), tokenSha256, now, expiresAt: new Date(now.getTime() + HOUR_MS) };
  const result = await insertResetLink(db, link);
  if (result !== 'created') throw new Refused(result);
  return { id: link.id, token };
}

/** @throws Refused `ended` */
export async function withdrawAt(
  db: Queryable,
  invitation: { readonly merchantId: string; readonly id: string },
  now: Date,
): Promise<void> {
  if (!(await expireInvitation(db, { ...invitation, now }))) throw new Refused('ended');
}

interface Membership {
  readonly merchantId: string;
  readonly userId: string;
}

/** @throws Refused `last_owner` or `unknown` */
export const setRoleAt = (db: Queryable, { role, ...member }: Membership & { readonly role: MemberRole }, now: Date) =>
  change(db, member, role, now);

/** @throws Refused `last_owner` or `unknown` */
export const removeAt = (db: Queryable, member: Membership, now: Date) => change(db, member, null, now);

async function change(db: Queryable, member: Membership, role: MemberRole | null, now: Date): Promise<void> {
  const result = await changeMemberRow(db, { ...member, role, now });
  if (result !== 'changed') throw new Refused(result);
}
