import { z } from 'zod';
import { listInvitations, listMembers } from '../../../services/identity/members';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import type { ShownInvitation, ShownMember } from './team-page';

type TeamDependencies = Pick<DashboardDependencies, 'db'>;
type TeamVisit = Pick<MemberVisit, 'request' | 'member' | 'session'>;

/** The members of the merchant in the path. */
async function findMembers({ db }: TeamDependencies, { member, session }: TeamVisit): Promise<ShownMember[]> {
  const members = await listMembers(db, member.merchantId);
  const names = new Map(members.map(({ userId, name }) => [`user:${userId}`, name]));
  return members.map((row) =>
    Object.assign(row, { inviterName: names.get(row.invitedBy) ?? null, isSelf: row.userId === session.user.id }),
  );
}

/** The members of the merchant in the path, and the invitations that wait. */
export async function findTeam(
  dependencies: TeamDependencies,
  visit: TeamVisit & Pick<MemberVisit, 'now'>,
): Promise<{ readonly members: ShownMember[]; readonly invitations: ShownInvitation[] }> {
  const [members, open] = await Promise.all([
    findMembers(dependencies, visit),
    listInvitations(dependencies.db, visit.member.merchantId, visit.now),
  ]);
  const names = new Map(members.map(({ userId, name }) => [`user:${userId}`, name]));
  const invitations = open.map((row) => Object.assign(row, { inviterName: names.get(row.createdBy) ?? null }));
  return { members, invitations };
}

/** The member in the path. @throws PageError `not_found`, also for a member of another merchant */
export async function findMemberOfPath(dependencies: TeamDependencies, visit: TeamVisit): Promise<ShownMember> {
  const members = await findMembers(dependencies, visit);
  const found = members.find(({ userId }) => userId === visit.request.params.user);
  if (!found) throw new PageError('not_found', 'the merchant has no such member');
  return found;
}

/** The id of the invitation in the path. @throws PageError `not_found` */
export function invitationIdOfPath({ request }: Pick<MemberVisit, 'request'>): string {
  const id = z.uuid().safeParse(request.params.invitation).data;
  if (id === undefined) throw new PageError('not_found', 'the path has no id of an invitation');
  return id;
}
