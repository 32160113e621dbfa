import type { Environment } from '../../config';
import type { MerchantScope } from '../../domain/key-access';
import { mayGiveScopes, rolesGiving } from '../../domain/key-scopes-of-roles';
import { mayAccess, rolesWith, type AccessLevel, type MemberArea, type MemberRole } from '../../domain/member-roles';
import type { EndpointResponse } from '../../http/endpoint';
import { PAGE_HEADERS } from '../page/headers';
import { merchantCode, pagePath } from '../page/page-path';
import type { MemberVisit } from '../page/page-route';
import type { Locale } from '../ui/format';
import type { DashboardTexts } from './texts/en';
import { DASHBOARD_TEXTS } from './texts/texts';

/** The first page of a merchant. */
export const homePath = pagePath('/m/:code', { code: merchantCode });

/** What every page of a merchant shows or depends on. */
export interface MerchantView {
  readonly texts: DashboardTexts;
  readonly locale: Locale;
  readonly nowMs: number;
  /** The merchant's code in the paths of its pages. */
  readonly code: string;
  readonly merchantName: string;
  /** Why nothing can be done at present; null: everything can. */
  readonly merchantState: 'suspended' | 'pending' | 'on_hold' | null;
  readonly userId: string;
  readonly userName: string;
  readonly roleName: string;
  readonly isDevelopmentSession: boolean;
  readonly isSandbox: boolean;
  /** The path of this page, to which a change of the language returns. */
  readonly path: string;
  /** Why only members with these roles can do something. */
  readonly onlyRoles: (roles: readonly MemberRole[]) => string;
  /** Null if the user has the level; else the reason why not. */
  readonly rightRejection: (area: MemberArea, level: AccessLevel) => string | null;
  /** Null if the user may give all of these scopes to a key; else the reason why not. Null scopes: every scope. */
  readonly scopesRejection: (scopes: readonly MerchantScope[] | null) => string | null;
}

export function merchantView(
  { environment }: { readonly environment: Environment },
  { request, now, session, member }: Pick<MemberVisit, 'request' | 'now' | 'session' | 'member'>,
): MerchantView {
  const texts = DASHBOARD_TEXTS[session.user.language];
  const onlyRoles = (roles: readonly MemberRole[]) => texts.onlyRoles(roles.map((role) => texts.roles[role]));
  return {
    texts,
    locale: { language: session.user.language, zone: member.timeZone },
    nowMs: now.getTime(),
    code: member.merchantCode,
    merchantName: member.merchantName,
    merchantState: stateOf(member),
    userId: session.user.id,
    userName: session.user.name,
    roleName: texts.roles[member.role],
    isDevelopmentSession: session.method === 'development_link',
    isSandbox: environment === 'sandbox',
    path: request.path,
    onlyRoles,
    rightRejection: (area, level) => (mayAccess(member.role, area, level) ? null : onlyRoles(rolesWith(area, level))),
    scopesRejection: (scopes) => (mayGiveScopes(member.role, scopes) ? null : onlyRoles(rolesGiving(scopes))),
  };
}

function stateOf({ merchantStatus, isOnHold }: MemberVisit['member']): MerchantView['merchantState'] {
  if (merchantStatus !== 'approved') return merchantStatus;
  return isOnHold ? 'on_hold' : null;
}

/** A merchant that is not approved can read everything and do nothing. On hold, only its settlements wait. */
export function merchantRejection({ merchantState, texts }: MerchantView): string | null {
  return merchantState === null || merchantState === 'on_hold' ? null : texts.merchantStates[merchantState];
}

/** A page as response. */
export function pageResponse(html: string, status = 200): EndpointResponse {
  return { status, headers: PAGE_HEADERS, body: html };
}
