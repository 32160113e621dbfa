import { z } from 'zod';
import type { Person } from '../../../domain/actor';
import type { MerchantScope } from '../../../domain/key-access';
import { mayGiveScopes, rolesGiving } from '../../../domain/key-scopes-of-roles';
import { MEMBER_ROLES, type MemberRole } from '../../../domain/member-roles';

/** Only members with these roles may give all scopes of the key. */
export const foreignScopesReason = { foreign_scopes: { roles: z.array(z.enum(MEMBER_ROLES)) } } as const;

/** The sentence of `foreignScopesReason` for operators. */
export const foreignScopesMessage = {
  foreign_scopes: ({ roles }: { readonly roles: readonly MemberRole[] }) =>
    `Only these roles may give these scopes: ${roles.join(', ')}.`,
} as const;

interface ForeignScopes {
  readonly reason: 'foreign_scopes';
  readonly roles: MemberRole[];
}

/** Why the person may not give a key these scopes; null: they may. @param scopes null: every scope */
export function foreignScopes(by: Person, scopes: readonly MerchantScope[] | null): ForeignScopes | null {
  if (by.kind !== 'merchant_user' || mayGiveScopes(by.role, scopes)) return null;
  return { reason: 'foreign_scopes', roles: rolesGiving(scopes) };
}
