import type { Queryable } from '../../db/connection/pool';
import { findUser } from '../../db/identity/users';
import { SignInError } from '../../errors';

/** By what a user proves their identity. */
export interface Factors {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
}

/** @throws SignInError `session_ended` if the user is disabled */
export async function readFactors(db: Queryable, userId: string): Promise<Factors> {
  const user = await findUser(db, userId);
  if (!user) throw new SignInError('session_ended', 'The user is disabled.');
  return { hasPassword: user.passwordHash !== null, hasTotp: user.sealedTotp !== null, hasPasskey: user.hasPasskey };
}
