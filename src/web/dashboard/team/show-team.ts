import { z } from 'zod';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findTeam } from './find-team';
import { renderTeamPage } from './team-page';

const done = z.enum(['role', 'removed', 'withdrawn']).optional().catch(undefined);

/** Who may enter, and who is invited. */
export const showTeam = memberPage(
  { area: 'team', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/team',
    fields: z.object({ done }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const team = await findTeam(dependencies, visit);
      return pageResponse(renderTeamPage({ view, ...team, done: query.ok ? query.values.done : undefined }));
    },
  },
);
