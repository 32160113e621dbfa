import { z } from 'zod';
import { MEMBER_ROLES } from '../../../domain/member-roles';
import { ConflictError } from '../../../errors';
import { withUserAudit } from '../../../services/audit/user-audit';
import { inviteMember, listInvitations, withdrawInvitation } from '../../../services/identity/members';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderConfirmAccessPage } from './confirm-access-page';
import { invitationIdOfPath } from './find-team';
import { renderInvitePage } from './invite-page';
import { renderLinkPage } from './link-page';
import { TEAM_TEXTS } from './team-texts';

type TeamDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'origin'>;

const MANAGE = { area: 'team', level: 'manage' } as const;
const INVITE = '/m/:code/team/invite';
const WITHDRAW = '/m/:code/team/invitations/:invitation/withdraw';
const MAX_EMAIL_CHARACTERS = 254;

/** A new link for an open invitation is the same form, filled in. */
const inviteForm = memberPage(MANAGE, {
  method: 'get',
  path: INVITE,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: TeamDependencies, visit, { sent }) {
    return pageResponse(renderInvitePage({ view: merchantView(dependencies, visit), sent, errors: {} }));
  },
});

/** The response has the link. A repeat of the form shows a newer one, and the first one is withdrawn. */
const invite = memberPage(MANAGE, {
  method: 'post',
  path: INVITE,
  stepUp: true,
  fields: z.object({
    email: z.email({ error: 'email' }).max(MAX_EMAIL_CHARACTERS, { error: 'email' }),
    role: z.enum(MEMBER_ROLES, { error: 'role' }),
  }),
  async handler(dependencies: TeamDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const { sent } = form;
    if (!form.ok) return pageResponse(renderInvitePage({ view, sent, errors: errorTexts(view, form.errors) }), 422);
    const { email, role } = form.values;
    const { merchantId } = visit.member;
    const request = { merchantId, email, role, createdBy: `user:${visit.session.user.id}` };
    // The e-mail is in the invitation. It is not written into the log, from which nothing is deleted.
    const action = { action: 'member.invite', target: merchantId, detail: JSON.stringify({ role }) } as const;
    try {
      const { token, expiresAt } = await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
        inviteMember(dependencies.db, request, visit.now),
      );
      const url = `${dependencies.origin.origin}/invitations/${token}`;
      return pageResponse(renderLinkPage({ view, kind: 'invitation', subject: email, url, expiresAt }));
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return pageResponse(renderInvitePage({ view, sent, errors: errorTexts(view, { email: 'member' }) }), 422);
    }
  },
});

function errorTexts({ locale }: MerchantView, codes: FieldErrors): FieldErrors {
  const { errors } = TEAM_TEXTS[locale.language].invite;
  const known: Readonly<Partial<Record<string, string>>> = errors;
  return Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, known[code] ?? errors.form]));
}

const withdrawForm = memberPage(MANAGE, {
  method: 'get',
  path: WITHDRAW,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: TeamDependencies, visit) => withdrawPage(dependencies, visit, null),
});

const withdraw = memberPage(MANAGE, {
  method: 'post',
  path: WITHDRAW,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: TeamDependencies, visit) {
    const view = merchantView(dependencies, visit);
    const id = invitationIdOfPath(visit);
    await findInvitation(dependencies, visit);
    try {
      await withUserAudit(
        dependencies.db,
        userIdentity(dependencies, visit),
        { action: 'member.withdraw_invitation', target: id },
        () => withdrawInvitation(dependencies.db, { merchantId: visit.member.merchantId, id }, visit.now),
      );
      return redirectTo(`${view.paths.team}?done=withdrawn`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return withdrawPage(dependencies, visit, TEAM_TEXTS[view.locale.language].withdraw.ended);
    }
  },
});

async function findInvitation({ db }: TeamDependencies, visit: MemberVisit) {
  const id = invitationIdOfPath(visit);
  const open = await listInvitations(db, visit.member.merchantId, visit.now);
  const found = open.find((invitation) => invitation.id === id);
  if (!found) throw new PageError('not_found', 'the merchant has no such invitation that waits');
  return found;
}

async function withdrawPage(dependencies: TeamDependencies, visit: MemberVisit, rejection: string | null) {
  const view = merchantView(dependencies, visit);
  const { id, email } = await findInvitation(dependencies, visit);
  const { withdraw: texts } = TEAM_TEXTS[view.locale.language];
  const html = renderConfirmAccessPage({
    view,
    ...texts,
    subject: email,
    action: view.paths.withdrawInvitation(id),
    tone: 'danger',
    back: view.paths.team,
    rejection,
  });
  return pageResponse(html, rejection === null ? 200 : 409);
}

export const invitePages = [inviteForm, invite, withdrawForm, withdraw];
