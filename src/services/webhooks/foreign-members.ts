import { z } from 'zod';
import type { Person } from '../../domain/actor';
import { scopesOfExpansions, type Expansion } from '../../domain/expansions';
import { MEMBER_ROLES, type MemberRole } from '../../domain/member-roles';
import { foreignScopes } from '../merchants/keys/foreign-scopes';

/** Only members with these roles may make an endpoint add all of these members to its bodies. */
export const foreignMembersReason = { foreign_members: { roles: z.array(z.enum(MEMBER_ROLES)) } } as const;

/** The sentence of `foreignMembersReason` for operators. */
export const foreignMembersMessage = {
  foreign_members: ({ roles }: { readonly roles: readonly MemberRole[] }) =>
    `Only these roles may add these members: ${roles.join(', ')}.`,
} as const;

interface ForeignMembers {
  readonly reason: 'foreign_members';
  readonly roles: MemberRole[];
}

/** Why the person may not make an endpoint add these members; null: they may. */
export function foreignMembers(by: Person, expand: readonly Expansion[]): ForeignMembers | null {
  const foreign = foreignScopes(by, scopesOfExpansions(expand));
  return foreign && { reason: 'foreign_members', roles: foreign.roles };
}
