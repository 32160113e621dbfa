import { z } from 'zod';
import { changeMemberRow, findMemberRow, type Invited, type Member } from '../../db/identity/members';
import type { Person, Scope } from '../../domain/actor';
import type { MemberRole } from '../../domain/member-roles';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { done, rejected } from '../operations/rejections';

/** Who manages the members of a merchant. */
export const ofTeam = { area: 'team', level: 'manage', stepUp: true, whileSuspended: true } as const;

/** What every operation of a member on a member has. */
export const onMember = {
  member: ofTeam,
  path: z.object({ user: z.uuid() }),
  load: ({ db }: AuditDependencies, scope: Scope, { user }: { readonly user: string }) => loadMember(db, scope, user),
  target: ({ subject }: { readonly subject: Member }) => subject.userId,
} as const;

async function loadMember(db: AuditDependencies['db'], scope: Scope, userId: string): Promise<Member & Invited> {
  const found = scope === 'all' ? undefined : await findMemberRow(db, { merchantId: scope.merchantId, userId });
  if (found === undefined) throw new NotFoundError('user', userId);
  return found;
}

/** A merchant keeps an owner. */
export const lastOwner = {
  rejections: { last_owner: {} },
  messages: { last_owner: () => 'This is the last owner: make another member an owner first.' },
} as const;

interface MemberChange {
  /** Null: the member is removed. */
  readonly role: MemberRole | null;
  readonly revokesKeys?: boolean;
}

/** @returns whether the member is who changes it */
export async function changeMember(
  { db }: AuditDependencies,
  { merchantId, userId }: Member,
  by: Person,
  change: MemberChange,
) {
  const result = await changeMemberRow(db, { merchantId, userId, ...change, now: new Date() });
  if (result === 'unknown') throw new NotFoundError('user', userId);
  return result === 'changed'
    ? done({ isSelf: by.kind === 'merchant_user' && by.id === userId })
    : rejected({ reason: 'last_owner' });
}
