import type { MerchantScope } from './key-access';
import { MEMBER_ROLES, type MemberRole } from './member-roles';

/**
 * The scopes that a member may give to a key; `all`: every one, also a key without scopes. A developer connects the
 * shop's server, so it gives what a server needs to take payments. A key that moves money back or reads personal data
 * would exceed the developer's own rights, so only an owner gives it. A scope that is added later is the owner's.
 */
const SCOPES_OF_ROLES: Readonly<Record<MemberRole, readonly MerchantScope[] | 'all'>> = {
  owner: 'all',
  finance: [],
  developer: ['read', 'create', 'cancel'],
  support: [],
  cashier: [],
  viewer: [],
};

/**
 * Whether the role may create, rotate and edit a key with these scopes. It may revoke any key, because this only takes
 * rights away.
 * @param scopes null: every scope
 */
export function mayGiveScopes(role: MemberRole, scopes: readonly MerchantScope[] | null): boolean {
  const allowed = SCOPES_OF_ROLES[role];
  if (allowed === 'all') return true;
  return scopes !== null && scopes.every((scope) => allowed.includes(scope));
}

/** The roles that may give all of the scopes, for the text of a page. */
export function rolesGiving(scopes: readonly MerchantScope[] | null): MemberRole[] {
  return MEMBER_ROLES.filter((role) => mayGiveScopes(role, scopes));
}
