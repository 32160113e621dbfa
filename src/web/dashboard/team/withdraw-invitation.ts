import { z } from 'zod';
import { withdrawInvitation } from '../../../services/identity/withdraw-invitation';
import { memberFormPages } from '../form-pages';
import { renderConfirmAccessPage } from './confirm-access-page';
import { teamPath, withdrawPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

export const withdrawInvitationPages = memberFormPages({
  at: withdrawPath,
  operation: withdrawInvitation,
  path: ({ invitation }) => ({ invitation }),
  fields: () => z.object({}),
  errors: ({ locale }) => TEAM_TEXTS[locale.language].invite.errors,
  rejections: ({ locale }) => ({ ended: () => TEAM_TEXTS[locale.language].withdraw.ended }),
  done: (_, { view }) => teamPath.to(view, { done: 'withdrawn' }),
  render({ view, subject: { id, email, role }, rejection }) {
    const { withdraw, invitations } = TEAM_TEXTS[view.locale.language];
    const [action, back] = [withdrawPath.to({ code: view.code, invitation: id }), teamPath.to(view)];
    const facts = [
      { name: invitations.columns.email, value: email },
      { name: invitations.columns.role, value: view.texts.roles[role] },
    ];
    const page = { ...withdraw, subject: email, facts, action, back, rejection };
    return renderConfirmAccessPage({ view, ...page, tone: 'danger' });
  },
});
