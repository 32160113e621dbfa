import type { MemberActor, OperatorActor } from '../../src/domain/actor';
import type { MemberRole } from '../../src/domain/member-roles';

/** An operator without a key, who runs a command. */
export function osUser(name: string): OperatorActor {
  return { kind: 'os_user', name, door: 'cli' };
}

/** The owner of an operator key. */
export function operatorOf({ id, name }: { readonly id: string; readonly name: string }, door: 'cli' | 'api' = 'cli') {
  return { kind: 'operator', name, door, operatorId: id, scopes: null } as const satisfies OperatorActor;
}

interface Member {
  readonly userId: string;
  readonly merchantId: string;
  readonly role: MemberRole;
}

/** A member of an approved merchant, in the dashboard. */
export function memberOf({ userId, merchantId, role }: Member): MemberActor {
  const session = { door: 'dashboard', address: '203.0.113.9' } as const;
  return {
    kind: 'merchant_user',
    id: userId,
    merchantId,
    role,
    merchantState: 'approved',
    hasProved: true,
    ...session,
  };
}
