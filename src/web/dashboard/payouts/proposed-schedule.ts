import { z } from 'zod';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  approvePayoutSettings,
  findProposedRejection,
  getProposedSettings,
  withdrawPayoutSettings,
} from '../../../services/payouts/payout-settings';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse } from '../merchant-view';
import { actingUser, userIdentity } from '../user-identity';
import { nextRunText } from './next-run';
import { renderProposedSchedulePage } from './proposed-schedule-page';
import { SCHEDULE_TEXTS } from './schedule-texts';

type ProposalDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const AUTHORISE = { area: 'payouts', level: 'authorise' } as const;
const ROUTE = { path: '/m/:code/payouts/schedule/proposal', stepUp: true } as const;

const proposedSchedulePage = memberPage(AUTHORISE, {
  ...ROUTE,
  method: 'get',
  fields: NO_FIELDS,
  handler: async (dependencies: ProposalDependencies, visit) => proposalPage(dependencies, visit, 200),
});

const decisionSchema = z.object({ proposal: z.uuid(), decision: z.enum(['approve', 'withdraw']) });

/** A second member approves what they have seen. Any member with the right withdraws it. */
const decideProposedSchedule = memberPage(AUTHORISE, {
  ...ROUTE,
  method: 'post',
  fields: decisionSchema,
  async handler(dependencies: ProposalDependencies, visit, form) {
    if (!form.ok) return proposalPage(dependencies, visit, 422);
    const { db } = dependencies;
    const user = actingUser(visit);
    const { proposal, decision } = form.values;
    const action = { action: `payout_settings.${decision}`, target: user.merchantId } as const;
    try {
      await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
        decision === 'approve'
          ? approvePayoutSettings(db, user, proposal, visit.now)
          : withdrawPayoutSettings(db, user, proposal),
      );
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return proposalPage(dependencies, visit, 409);
    }
    const { paths } = merchantView(dependencies, visit);
    return redirectTo(decision === 'approve' ? `${paths.payouts}?done=saved` : paths.payoutSchedule);
  },
});

export const proposedSchedulePages = [proposedSchedulePage, decideProposedSchedule];

/** The page of a proposal, or of the schedule if there is none. */
async function proposalPage(
  dependencies: ProposalDependencies,
  visit: MemberVisit,
  status: number,
): Promise<EndpointResponse> {
  const { db } = dependencies;
  const view = merchantView(dependencies, visit);
  const proposed = await getProposedSettings(db, visit.member.merchantId);
  if (proposed === undefined) return redirectTo(view.paths.payoutSchedule);
  const code = await findProposedRejection(db, actingUser(visit), proposed);
  const rejection = merchantRejection(view) ?? (code && SCHEDULE_TEXTS[view.locale.language].rejections[code]);
  const nextRun = nextRunText(view.locale, proposed, visit.now);
  return pageResponse(renderProposedSchedulePage({ view, proposed, nextRun, rejection }), status);
}
