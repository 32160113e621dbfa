import { z } from 'zod';
import { findMember, listInvitations, listMembers } from '../../../services/identity/members';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import type { ShownInvitation, ShownMember } from './team-page';

type TeamDependencies = Pick<DashboardDependencies, 'db'>;

/** The members of the merchant in the path, and the invitations that wait. */
export async function findTeam(
  dependencies: TeamDependencies,
  visit: Pick<MemberVisit, 'member' | 'session' | 'now'>,
): Promise<{ readonly members: ShownMember[]; readonly invitations: ShownInvitation[] }> {
  const { merchantId } = visit.member;
  const [found, open] = await Promise.all([
    listMembers(dependencies.db, merchantId),
    listInvitations(dependencies.db, merchantId, visit.now),
  ]);
  const names = new Map(found.map(({ userId, name }) => [`user:${userId}`, name]));
  const nameOf = (inviter: string) => names.get(inviter) ?? null;
  return {
    members: found.map((row) => Object.assign(row, { inviterName: nameOf(row.invitedBy), isSelf: isSelf(visit, row) })),
    invitations: open.map((row) => Object.assign(row, { inviterName: nameOf(row.createdBy) })),
  };
}

/** The member in the path. @throws PageError `not_found`, also for a member of another merchant */
export async function findMemberOfPath(
  { db }: TeamDependencies,
  visit: Pick<MemberVisit, 'request' | 'member' | 'session'>,
): Promise<ShownMember> {
  const userId = z.uuid().safeParse(visit.request.params.user).data;
  const { merchantId } = visit.member;
  const found = userId === undefined ? undefined : await findMember(db, { merchantId, userId });
  if (!found) throw new PageError('not_found', 'the merchant has no such member');
  return { ...found, isSelf: isSelf(visit, found) };
}

function isSelf({ session }: Pick<MemberVisit, 'session'>, { userId }: Pick<ShownMember, 'userId'>): boolean {
  return userId === session.user.id;
}

/** The id of the invitation in the path. @throws PageError `not_found` */
export function invitationIdOfPath({ request }: Pick<MemberVisit, 'request'>): string {
  const id = z.uuid().safeParse(request.params.invitation).data;
  if (id === undefined) throw new PageError('not_found', 'the path has no id of an invitation');
  return id;
}
