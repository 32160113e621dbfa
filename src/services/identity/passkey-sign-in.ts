import { v7 as uuidv7 } from 'uuid';
import { createSignInToken, hashSignInToken } from '../../crypto/sign-in-token';
import { inTransaction } from '../../db/connection/transaction';
import { lockLogin } from '../../db/identity/login-lock';
import { storeChallenge, takeChallenge, takeSignInChallenge } from '../../db/identity/passkey-challenges';
import { listPasskeyRows } from '../../db/identity/passkeys';
import { insertSession } from '../../db/identity/sessions';
import type { Realm } from '../../domain/sign-in';
import { SignInError } from '../../errors';
import { invalidPasskey, loadWebAuthn, spendPasskey, verifyPasskey } from './passkey-verification';
import { shortened, type Browser, type OpenedSession, type Session } from './sessions';
import {
  identityOf,
  openSession,
  recordedStep,
  renewSession,
  sessionEnded,
  withLockedLogin,
  type IdentityDependencies,
} from './sign-in';

export interface PasskeyDependencies extends IdentityDependencies {
  /** The address of the pages. Passkeys belong to its host. */
  readonly origin: URL;
}

/** How long a challenge is accepted. It is good once. */
export const CHALLENGE_MS = 5 * 60_000;

const NO_USER = { stage: 'passkey', method: 'passkey', userId: null, passwordHash: null, steppedUpAt: null } as const;

/** What the script of the page passes to the browser, as JSON. */
export interface PasskeyQuestion {
  readonly options: string;
}

/**
 * Begins a sign-in by a passkey of any user, who is not known yet.
 * @returns the session of the browser until the passkey has signed
 * @throws SignInError `throttled` or `unavailable`
 */
export async function beginPasskeySignIn(
  { db, throttle, origin }: PasskeyDependencies,
  { realm, browser }: { readonly realm: Realm; readonly browser: Browser },
  now: Date,
): Promise<PasskeyQuestion & Pick<OpenedSession, 'token' | 'expiresAt'>> {
  await throttle.countToken(browser.address);
  const options = await questionFor(origin);
  const { token, tokenSha256 } = createSignInToken('session');
  const [id, expiresAt] = [uuidv7(), new Date(now.getTime() + CHALLENGE_MS)];
  await insertSession(db, {
    ...NO_USER,
    id,
    realm,
    tokenSha256,
    now,
    expiresAt,
    browser: shortened(browser),
  });
  await storeChallenge(db, { sessionId: id, challenge: options.challenge, expiresAt });
  return { options: JSON.stringify(options), token, expiresAt };
}

interface PasskeySignIn {
  readonly realm: Realm;
  /** The cookie of `beginPasskeySignIn`. */
  readonly token: string | undefined;
  /** JSON of what the passkey has signed. */
  readonly response: string;
  readonly browser: Browser;
}

/**
 * Signs in by a passkey: with user verification it is a complete sign-in. The challenge is used by that, also if the
 * passkey is rejected.
 * @returns a session with a token of its own, and the e-mail of its user
 * @throws SignInError `passkey`
 */
export async function finishPasskeySignIn(
  dependencies: PasskeyDependencies,
  { realm, token, response, browser }: PasskeySignIn,
  now: Date,
): Promise<{ readonly session: OpenedSession; readonly email: string }> {
  const { db, origin, rejections } = dependencies;
  const tokenSha256 = token === undefined ? undefined : hashSignInToken('session', token);
  const challenge = tokenSha256 && (await takeSignInChallenge(db, { realm, tokenSha256, now }));
  if (challenge === undefined) throw invalidPasskey();
  const proved = await verifyPasskey(db, realm, { response, challenge, origin }, (userId) =>
    rejections.record(userId, browser.address),
  );
  const { userId } = proved.passkey;
  const session = await inTransaction(db, async (client) => {
    await lockLogin(client, userId);
    await spendPasskey(client, proved, now);
    const opening = { stage: 'full', method: 'passkey', passwordHash: null, browser } as const;
    return openSession({ ...dependencies, db: client }, { id: userId, realm }, opening, now);
  }).catch((error: unknown) => {
    // The user was disabled in this moment: there is no password that could be wrong.
    throw error instanceof SignInError && error.reason === 'credentials' ? invalidPasskey() : error;
  });
  return { session, email: proved.passkey.email };
}

/** Begins a step-up by one of the user's own passkeys. @throws SignInError `throttled` or `unavailable` */
export async function beginPasskeyStepUp(
  { db, throttle, origin }: PasskeyDependencies,
  { id: sessionId, stage, user }: Session,
  address: string,
  now: Date,
): Promise<PasskeyQuestion> {
  if (stage !== 'full') throw sessionEnded();
  await throttle.countToken(address);
  const options = await questionFor(origin, await listPasskeyRows(db, user.id));
  const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
  await storeChallenge(db, { sessionId, challenge: options.challenge, expiresAt });
  return { options: JSON.stringify(options) };
}

/**
 * Proves the identity of a signed-in user again.
 * @returns the session with its new token
 * @throws SignInError `passkey` or `session_ended`
 */
export async function stepUpByPasskey(
  dependencies: PasskeyDependencies,
  session: Session,
  { response, address }: { readonly response: string; readonly address: string },
  now: Date,
): Promise<OpenedSession> {
  if (session.stage !== 'full') throw sessionEnded();
  const { db, origin } = dependencies;
  const by = identityOf(dependencies, session, address);
  return recordedStep(dependencies, by, { action: 'security.step_up', target: session.id }, async () => {
    const challenge = await takeChallenge(db, session.id, now);
    if (challenge === undefined) throw invalidPasskey();
    const proved = await verifyPasskey(db, session.realm, { response, challenge, origin });
    if (proved.passkey.userId !== session.user.id) throw invalidPasskey();
    return withLockedLogin(dependencies, session, now, async (client) => {
      await spendPasskey(client, proved, now);
      return renewSession(client, session, now);
    });
  });
}

interface KnownCredential {
  readonly credentialId: string;
  readonly transports: readonly string[];
}

/** @param known absent: the browser offers every passkey of this host */
async function questionFor(origin: URL, known: readonly KnownCredential[] = []) {
  const { generateAuthenticationOptions } = await loadWebAuthn();
  return generateAuthenticationOptions({
    rpID: origin.hostname,
    userVerification: 'required',
    timeout: CHALLENGE_MS,
    allowCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports: [...transports] })),
  });
}
