import { z } from 'zod';
import { MEMBER_ROLES, type MemberRole } from '../../../domain/member-roles';
import { ConflictError } from '../../../errors';
import { withUserAudit } from '../../../services/audit/user-audit';
import { createResetLink, removeMember, setMemberRole } from '../../../services/identity/members';
import { listKeysOfCreator } from '../../../services/merchants/keys/api-key';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderConfirmAccessPage } from './confirm-access-page';
import { findMemberOfPath } from './find-team';
import { renderLinkPage } from './link-page';
import { renderMemberPage } from './member-page';
import { renderRemovePage } from './remove-page';
import { renderRolePage } from './role-page';
import type { ShownMember } from './team-page';
import { TEAM_TEXTS } from './team-texts';

type TeamDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'origin'>;

const MANAGE = { area: 'team', level: 'manage' } as const;
const MEMBER = '/m/:code/team/:user';
const ROLE = { path: `${MEMBER}/role`, stepUp: true } as const;
const REMOVE = { path: `${MEMBER}/remove`, stepUp: true } as const;
const RESET = { path: `${MEMBER}/reset`, stepUp: true } as const;

const showMember = memberPage(
  { area: 'team', level: 'view' },
  {
    method: 'get',
    path: MEMBER,
    fields: NO_FIELDS,
    async handler(dependencies: TeamDependencies, visit) {
      const shown = await findMemberOfPath(dependencies, visit);
      return pageResponse(renderMemberPage({ view: merchantView(dependencies, visit), shown }));
    },
  },
);

const chosenRole = z.object({ role: z.enum(MEMBER_ROLES, { error: 'role' }) });

const roleForm = memberPage(MANAGE, {
  ...ROLE,
  method: 'get',
  fields: chosenRole,
  async handler(dependencies: TeamDependencies, visit, query) {
    const shown = await findMemberOfPath(dependencies, visit);
    const role = query.ok ? query.values.role : shown.role;
    return pageResponse(renderRolePage({ view: merchantView(dependencies, visit), shown, role, rejection: null }));
  },
});

const changeRole = memberPage(MANAGE, {
  ...ROLE,
  method: 'post',
  fields: chosenRole,
  async handler(dependencies: TeamDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const { userId, role: before } = await findMemberOfPath(dependencies, visit);
    if (!form.ok) return rejectedRole(dependencies, visit, before, null);
    const { role } = form.values;
    const action = { action: 'member.set_role', target: userId, detail: JSON.stringify({ before, role }) } as const;
    try {
      await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
        setMemberRole(dependencies.db, { merchantId: visit.member.merchantId, userId, role }, visit.now),
      );
      // An owner who gives up this role may not see the team any more.
      return redirectTo(userId === visit.session.user.id ? view.paths.home : `${view.paths.team}?done=role`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return rejectedRole(dependencies, visit, role, TEAM_TEXTS[view.locale.language].role.lastOwner);
    }
  },
});

async function rejectedRole(
  dependencies: TeamDependencies,
  visit: MemberVisit,
  role: MemberRole,
  rejection: string | null,
) {
  const shown = await findMemberOfPath(dependencies, visit);
  const html = renderRolePage({ view: merchantView(dependencies, visit), shown, role, rejection });
  return pageResponse(html, rejection === null ? 422 : 409);
}

const removeForm = memberPage(MANAGE, {
  ...REMOVE,
  method: 'get',
  fields: NO_FIELDS,
  handler: async (dependencies: TeamDependencies, visit) =>
    removePage(dependencies, visit, { revokesKeys: true, rejection: null }),
});

/** A checkbox: absent if it is not checked. */
const removal = z.object({ revoke_keys: z.literal('on').optional() });

const remove = memberPage(MANAGE, {
  ...REMOVE,
  method: 'post',
  fields: removal,
  async handler(dependencies: TeamDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const { userId } = await findMemberOfPath(dependencies, visit);
    const { merchantId } = visit.member;
    const revokesKeys = !form.ok || form.values.revoke_keys === 'on';
    const keys = revokesKeys ? await listKeysOfCreator(dependencies.db, { merchantId, userId }) : [];
    const detail = JSON.stringify({ revoke_keys: revokesKeys, keys: keys.map(({ id }) => id) });
    const action = { action: 'member.remove', target: userId, detail } as const;
    try {
      await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
        removeMember(dependencies.db, { merchantId, userId, revokesKeys }, visit.now),
      );
      return redirectTo(userId === visit.session.user.id ? '/' : `${view.paths.team}?done=removed`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const rejection = TEAM_TEXTS[view.locale.language].role.lastOwner;
      return removePage(dependencies, visit, { revokesKeys, rejection });
    }
  },
});

interface RemovalState {
  readonly revokesKeys: boolean;
  readonly rejection: string | null;
}

async function removePage(dependencies: TeamDependencies, visit: MemberVisit, state: RemovalState) {
  const view = merchantView(dependencies, visit);
  const { userId, name } = await findMemberOfPath(dependencies, visit);
  const keys = await listKeysOfCreator(dependencies.db, { merchantId: visit.member.merchantId, userId });
  return pageResponse(renderRemovePage({ view, userId, name, keys, ...state }), state.rejection === null ? 200 : 409);
}

const resetForm = memberPage(MANAGE, {
  ...RESET,
  method: 'get',
  fields: NO_FIELDS,
  async handler(dependencies: TeamDependencies, visit) {
    const shown = await findMemberOfPath(dependencies, visit);
    const { own } = TEAM_TEXTS[visit.language].reset;
    return pageResponse(resetPage(merchantView(dependencies, visit), shown, shown.isSelf ? own : null));
  },
});

/** The response has the link. A repeat of the form shows a newer one, and the first one is withdrawn. */
const reset = memberPage(MANAGE, {
  ...RESET,
  method: 'post',
  fields: NO_FIELDS,
  async handler(dependencies: TeamDependencies, visit) {
    const view = merchantView(dependencies, visit);
    const shown = await findMemberOfPath(dependencies, visit);
    const { userId, name, isSelf } = shown;
    const { merchantId } = visit.member;
    const request = { userId, merchantId, createdBy: `user:${visit.session.user.id}` };
    try {
      const { token, expiresAt } = await withUserAudit(
        dependencies.db,
        userIdentity(dependencies, visit),
        { action: 'member.reset', target: userId },
        () => createResetLink(dependencies.db, request, visit.now),
      );
      const url = `${dependencies.origin.origin}/reset/${token}`;
      return pageResponse(renderLinkPage({ view, kind: 'reset', subject: name, url, expiresAt }));
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const { own, otherMerchants } = TEAM_TEXTS[visit.language].reset;
      return pageResponse(resetPage(view, shown, isSelf ? own : otherMerchants), 409);
    }
  },
});

function resetPage(view: MerchantView, { userId, name }: ShownMember, rejection: string | null): string {
  const { reset: texts } = TEAM_TEXTS[view.locale.language];
  const action = view.paths.resetMember(userId);
  const back = view.paths.member(userId);
  return renderConfirmAccessPage({ view, ...texts, subject: name, action, tone: 'danger', back, rejection });
}

export const memberAccessPages = [showMember, roleForm, changeRole, removeForm, remove, resetForm, reset];
