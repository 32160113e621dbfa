import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../../../db/payments/cursor';
import { listInvitations, listTeam } from '../../../services/identity/members';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { renderTeamPage } from './team-page';
import { teamPath } from './team-paths';

const done = z.enum(['role', 'removed', 'withdrawn']).optional().catch(undefined);

/** What is no position begins with the first page. */
const after = z.string().transform(decodeCursor).optional().catch(undefined);

/** Who may enter, and who is invited. */
export const showTeam = memberPage(
  { area: 'team', level: 'view' },
  {
    method: 'get',
    path: teamPath.pattern,
    fields: z.object({ done, after }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const sent = query.ok ? query.values : {};
      const position = sent.after ? { memberSince: sent.after.createdAt, userId: sent.after.id } : null;
      const [{ members, next }, invitations] = await Promise.all([
        listTeam(dependencies.db, merchantId, position),
        position ? [] : listInvitations(dependencies.db, merchantId, visit.now),
      ]);
      const html = renderTeamPage({
        view,
        members: members.map((row) => Object.assign(row, { isSelf: row.userId === visit.session.user.id })),
        invitations,
        first: position && teamPath.to(view),
        next: next && teamPath.to(view, { after: encodeCursor({ createdAt: next.memberSince, id: next.userId }) }),
        done: sent.done,
      });
      return pageResponse(html);
    },
  },
);
