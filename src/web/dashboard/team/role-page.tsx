import { mayAccess, type MemberRole } from '../../../domain/member-roles';
import type { MerchantView } from '../merchant-view';
import { renderConfirmAccessPage } from './confirm-access-page';
import { RoleChangeTable } from './role-rights';
import type { ShownMember } from './team-page';
import { TEAM_TEXTS } from './team-texts';

interface RolePage {
  readonly view: MerchantView;
  readonly shown: ShownMember;
  readonly role: MemberRole;
  readonly rejection: string | null;
}

/** What another role changes for a member. */
export function renderRolePage({ view, shown, role, rejection }: RolePage): string {
  const { role: texts } = TEAM_TEXTS[view.locale.language];
  const isAuthorised = mayAccess(role, 'payouts', 'authorise') && !mayAccess(shown.role, 'payouts', 'authorise');
  return renderConfirmAccessPage({
    view,
    title: texts.title,
    subject: shown.name,
    explanation: isAuthorised ? texts.payouts : null,
    action: view.paths.memberRole(shown.userId),
    button: texts.button(view.texts.roles[role]),
    tone: 'primary',
    fields: { role },
    back: view.paths.member(shown.userId),
    rejection: rejection ?? (role === shown.role ? texts.same : null),
    children: <RoleChangeTable view={view} from={shown.role} to={role} />,
  });
}
