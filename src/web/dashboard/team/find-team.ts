import { z } from 'zod';
import type { Invited } from '../../../db/identity/members';
import { findMember } from '../../../services/identity/members';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import type { ShownMember } from './team-page';

export type FoundMember = ShownMember & Invited;

/** The member in the path. @throws PageError `not_found`, also for a member of another merchant */
export async function findMemberOfPath(
  { db }: Pick<DashboardDependencies, 'db'>,
  visit: Pick<MemberVisit, 'request' | 'member' | 'session'>,
): Promise<FoundMember> {
  const userId = z.uuid().safeParse(visit.request.params.user).data;
  const { merchantId } = visit.member;
  const found = userId === undefined ? undefined : await findMember(db, { merchantId, userId });
  if (!found) throw new PageError('not_found', 'the merchant has no such member');
  return { ...found, isSelf: userId === visit.session.user.id };
}

/** The id of the invitation in the path. @throws PageError `not_found` */
export function invitationIdOfPath({ request }: Pick<MemberVisit, 'request'>): string {
  const id = z.uuid().safeParse(request.params.invitation).data;
  if (id === undefined) throw new PageError('not_found', 'the path has no id of an invitation');
  return id;
}
