import { z } from 'zod';
import { mayAccess, MEMBER_ROLES } from '../../../domain/member-roles';
import { setMemberRole } from '../../../services/identity/set-member-role';
import { memberFormPages } from '../form-pages';
import { homePath } from '../merchant-view';
import { renderConfirmAccessPage } from './confirm-access-page';
import { memberFacts } from './member-facts';
import { RoleChangeTable } from './role-rights';
import { memberPath, rolePath, teamPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

/** What another role changes for a member, and its button. The query has the role. */
export const setRolePages = memberFormPages({
  at: rolePath,
  operation: setMemberRole,
  path: ({ user }) => ({ user }),
  isFilledByQuery: true,
  fields: () => z.object({ role: z.enum(MEMBER_ROLES, { error: 'role' }) }),
  errors: ({ locale }) => TEAM_TEXTS[locale.language].invite.errors,
  rejections: ({ locale }) => ({ last_owner: () => TEAM_TEXTS[locale.language].role.lastOwner }),
  // An owner who gives up this role may not see the team any more.
  done: ({ isSelf }, { view }) => (isSelf ? homePath.to(view) : teamPath.to(view, { done: 'role' })),
  render({ view, subject, sent, rejection }) {
    const { role: texts } = TEAM_TEXTS[view.locale.language];
    const role = z.enum(MEMBER_ROLES).catch(subject.role).parse(sent?.role);
    const isAuthorised = mayAccess(role, 'payouts', 'authorise') && !mayAccess(subject.role, 'payouts', 'authorise');
    const path = { code: view.code, user: subject.userId };
    return renderConfirmAccessPage({
      view,
      title: texts.title,
      subject: subject.name,
      facts: memberFacts(view, subject),
      explanation: isAuthorised ? texts.payouts : null,
      action: rolePath.to(path),
      button: texts.button(view.texts.roles[role]),
      tone: 'primary',
      fields: { role },
      back: memberPath.to(path),
      rejection: rejection ?? (role === subject.role ? texts.same : null),
      question: role !== subject.role && <RoleChangeTable view={view} from={subject.role} to={role} />,
    });
  },
});
