import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import { storeChallenge, takeChallenge } from '../../db/identity/passkey-challenges';
import {
  deletePasskeyRow,
  insertPasskey,
  listPasskeyRows,
  renamePasskeyRow,
  type ListedPasskey,
} from '../../db/identity/passkeys';
import { endSessionsOf } from '../../db/identity/sessions';
import { findUser } from '../../db/identity/users';
import { ConflictError, NotFoundError } from '../../errors';
import { withUserAudit } from '../audit/user-audit';
import { readFactors } from './factors';
import { CHALLENGE_MS, type PasskeyDependencies, type PasskeyQuestion } from './passkey-sign-in';
import { invalidPasskey, loadWebAuthn, userHandleOf, verifyNewPasskey } from './passkey-verification';
import { countRecoveryCodes, createRecoveryCodes } from './recovery-codes';
import type { OpenedSession, Session } from './sessions';
import { identityOf, renewEnrolled, requireStepUp, sessionEnded, withLockedLogin } from './sign-in';

/** More than a user has devices. */
const MAX_PASSKEYS = 20;

/** The passkeys of the user, the oldest first. */
export function listPasskeys(db: Queryable, { user }: Session): Promise<ListedPasskey[]> {
  return listPasskeyRows(db, user.id);
}

interface OwnPasskey extends ListedPasskey {
  /** Whether it is the user's last second factor, in production: it cannot be removed. */
  readonly isNeeded: boolean;
}

/** @throws NotFoundError if the user has no such passkey */
export async function findOwnPasskey(
  { db, environment }: Pick<PasskeyDependencies, 'db' | 'environment'>,
  { user }: Session,
  id: string,
): Promise<OwnPasskey> {
  const passkeys = await listPasskeyRows(db, user.id);
  const passkey = passkeys.find((candidate) => candidate.id === id);
  if (!passkey) throw new NotFoundError('passkey', id);
  const { hasTotp } = await readFactors(db, user.id);
  return { ...passkey, isNeeded: environment === 'production' && !hasTotp && passkeys.length === 1 };
}

/**
 * Begins the registration of a passkey, by a user who has to set a second factor, or whose session is stepped up.
 * @throws SignInError `session_ended` or `not_stepped_up`
 * @throws ConflictError if the user has too many passkeys
 */
export async function beginPasskeyRegistration(
  { db, origin }: PasskeyDependencies,
  session: Session,
  now: Date,
): Promise<PasskeyQuestion> {
  requireEnrolling(session, now);
  const { id: sessionId, user } = session;
  const known = await listPasskeyRows(db, user.id);
  requireCapacity(known);
  const { generateRegistrationOptions } = await loadWebAuthn();
  const options = await generateRegistrationOptions({
    rpName: 'Lunas',
    rpID: origin.hostname,
    userID: userHandleOf(user.id),
    userName: user.email,
    userDisplayName: user.name,
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports: [...transports] })),
  });
  const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
  await storeChallenge(db, { sessionId, challenge: options.challenge, expiresAt });
  return { options: JSON.stringify(options) };
}

interface RegisteredPasskey {
  readonly session: OpenedSession;
  /** Shown once; null if the user has some. */
  readonly recoveryCodes: readonly string[] | null;
}

/**
 * Stores a new passkey. It completes a sign-in that required a second factor. With the first second factor come
 * recovery codes, and the user's other browsers are signed out.
 * @throws SignInError `passkey`, `session_ended` or `not_stepped_up`
 */
export async function registerPasskey(
  dependencies: PasskeyDependencies,
  session: Session,
  { name, response, address }: { readonly name: string; readonly response: string; readonly address: string },
  now: Date,
): Promise<RegisteredPasskey> {
  const { db, origin } = dependencies;
  requireEnrolling(session, now);
  const { user, realm } = session;
  const [id, by] = [uuidv7(), identityOf(dependencies, session, address)];
  return withUserAudit(db, by, { action: 'security.add_passkey', target: id }, async () => {
    const challenge = await takeChallenge(db, session.id, now);
    if (challenge === undefined) throw invalidPasskey();
    const created = await verifyNewPasskey({ response, challenge, origin });
    return withLockedLogin(dependencies, session, now, async (client) => {
      const { hasFactor } = await readSecondFactor(client, user.id);
      // Who knew only the password may have begun another sign-in before the user set a second factor.
      if (hasFactor && session.stage !== 'full') throw sessionEnded();
      requireCapacity(await listPasskeyRows(client, user.id));
      const passkey = { ...created, id, userId: user.id, realm, rpId: origin.hostname, name, createdAt: now };
      if (!(await insertPasskey(client, passkey))) throw invalidPasskey();
      if (!hasFactor) await endSessionsOf(client, user.id, session.id, now);
      const { unused } = await countRecoveryCodes(client, user.id);
      const recoveryCodes = unused === 0 ? await createRecoveryCodes(client, { id: user.id, realm }) : null;
      return { session: await renewEnrolled(client, session, by, now), recoveryCodes };
    });
  });
}

/** @throws NotFoundError if the user has no such passkey */
export async function renamePasskey(
  dependencies: PasskeyDependencies,
  session: Session,
  { id, name, address }: { readonly id: string; readonly name: string; readonly address: string },
  now: Date,
): Promise<void> {
  requireStepUp(session, now);
  const by = identityOf(dependencies, session, address);
  await withUserAudit(dependencies.db, by, { action: 'security.rename_passkey', target: id }, async () => {
    const isRenamed = await renamePasskeyRow(dependencies.db, { userId: session.user.id, id }, name);
    if (!isRenamed) throw new NotFoundError('passkey', id);
  });
}

/**
 * Removes a passkey, and signs the user's other browsers out: it may have opened one of them. The session has to be
 * stepped up.
 * @throws ConflictError in production, if it is the last second factor
 * @throws NotFoundError if the user has no such passkey
 * @throws SignInError `session_ended` or `not_stepped_up`
 */
export async function removePasskey(
  dependencies: PasskeyDependencies,
  session: Session,
  { id, address }: { readonly id: string; readonly address: string },
  now: Date,
): Promise<void> {
  requireStepUp(session, now);
  const { db, environment } = dependencies;
  const userId = session.user.id;
  const by = identityOf(dependencies, session, address);
  await withUserAudit(db, by, { action: 'security.remove_passkey', target: id }, () =>
    withLockedLogin(dependencies, session, now, async (client) => {
      if (!(await deletePasskeyRow(client, { userId, id }))) throw new NotFoundError('passkey', id);
      const { hasFactor } = await readSecondFactor(client, userId);
      if (!hasFactor && environment === 'production') {
        throw new ConflictError('not_allowed', 'This is the last second factor: set up another one first.');
      }
      await endSessionsOf(client, userId, session.id, now);
    }),
  );
}

async function readSecondFactor(db: Queryable, userId: string): Promise<{ readonly hasFactor: boolean }> {
  const user = await findUser(db, userId);
  if (!user) throw sessionEnded();
  return { hasFactor: user.sealedTotp !== null || user.hasPasskey };
}

function requireEnrolling(session: Session, now: Date): void {
  if (session.stage !== 'enrol') requireStepUp(session, now);
}

function requireCapacity(known: readonly unknown[]): void {
  if (known.length < MAX_PASSKEYS) return;
  throw new ConflictError('not_allowed', `A user has at most ${MAX_PASSKEYS} passkeys: remove one first.`);
}
