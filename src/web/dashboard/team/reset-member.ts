import { z } from 'zod';
import { resetMember } from '../../../services/identity/reset-member';
import { memberFormPages } from '../form-pages';
import { pageResponse } from '../merchant-view';
import { renderConfirmAccessPage } from './confirm-access-page';
import { renderLinkPage } from './link-page';
import { memberFacts } from './member-facts';
import { memberPath, resetPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

/** The response has the link. A repeat of the form shows a newer one, and the first one is withdrawn. */
export const resetMemberPages = memberFormPages({
  at: resetPath,
  operation: resetMember,
  path: ({ user }) => ({ user }),
  fields: () => z.object({}),
  errors: ({ locale }) => TEAM_TEXTS[locale.language].invite.errors,
  rejections({ locale }) {
    const { own, otherMerchants } = TEAM_TEXTS[locale.language].reset;
    return { own_login: () => own, other_merchants: () => otherMerchants };
  },
  done({ name: subject, token, expiresAt }, { view, dependencies }) {
    const url = `${dependencies.origin.origin}/reset/${token}`;
    return pageResponse(renderLinkPage({ view, kind: 'reset', subject, url, expiresAt }));
  },
  render({ view, subject: member, rejection }) {
    const path = { code: view.code, user: member.userId };
    const { reset } = TEAM_TEXTS[view.locale.language];
    const [action, back] = [resetPath.to(path), memberPath.to(path)];
    const page = { ...reset, subject: member.name, facts: memberFacts(view, member), action, back, rejection };
    return renderConfirmAccessPage({ view, ...page, tone: 'danger' });
  },
});
