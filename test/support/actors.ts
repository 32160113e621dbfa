import type { OperatorActor } from '../../src/domain/actor';

/** An operator without a key, who runs a command. */
export function osUser(name: string): OperatorActor {
  return { kind: 'os_user', name, door: 'cli' };
}

/** The owner of an operator key. */
export function operatorOf({ id, name }: { readonly id: string; readonly name: string }, door: 'cli' | 'api' = 'cli') {
  return { kind: 'operator', name, door, operatorId: id } as const satisfies OperatorActor;
}
