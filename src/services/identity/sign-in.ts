import { v7 as uuidv7 } from 'uuid';
import type { Environment } from '../../config';
import type { Sealer } from '../../crypto/sealing';
import { createSignInToken } from '../../crypto/sign-in-token';
import type { Pool, Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import { listMemberships } from '../../db/identity/list-memberships';
import { isSessionOpen, lockLogin } from '../../db/identity/login-lock';
import { endSessionsOf, insertSession, rotateSession } from '../../db/identity/sessions';
import { findUser, findUserByEmail, storePassword, type UserCredentials } from '../../db/identity/users';
import { noteWrongCodes } from '../../db/merchants/merchant-notices';
import { WRONG_CODES_OF_NOTICE } from '../../domain/notice-kinds';
import { passwordViolation, type PasswordOwner } from '../../domain/passwords';
import { SESSION_LIMITS, STEP_UP_LIMITS, type Realm, type SessionStage, type SignInMethod } from '../../domain/sign-in';
import { InvalidError, SignInError } from '../../errors';
import type { Logger } from '../../observability/logger';
import { recordEndedStep, withUserAudit, type UserActionName, type UserIdentity } from '../audit/user-audit';
import { readKnownBrowser } from './known-browser';
import type { PasswordHasher } from './password';
import { createRecoveryCodes, spendRecoveryCode } from './recovery-codes';
import type { RejectedSignIns } from './rejected-sign-ins';
import { isSteppedUp, shortened, type Browser, type OpenedSession, type Session } from './sessions';
import type { SignInThrottle } from './throttle';
import { confirmTotpEnrolment, spendTotpCode } from './totp';

export interface IdentityDependencies {
  readonly db: Pool;
  readonly sealer: Sealer;
  readonly hasher: PasswordHasher;
  readonly throttle: SignInThrottle;
  readonly rejections: RejectedSignIns;
  /** Production requires a second factor of every user. */
  readonly environment: Environment;
  readonly log: Pick<Logger, 'error'>;
}

/** How long a browser may wait between the password and the second factor. */
const PASSWORD_STAGE_MS = 5 * 60_000;
/** A new user reads the instructions of an authenticator app. */
const ENROL_STAGE_MS = 60 * 60_000;

/** What proves the identity of a user again, or a second time. */
export type Proof =
  | { readonly kind: 'totp'; readonly code: string }
  | { readonly kind: 'recovery_code'; readonly code: string }
  | { readonly kind: 'password'; readonly password: string };

interface SentProof<Kind extends Proof> {
  readonly proof: Kind;
  readonly address: string;
  /** The browser of a `PasswordSignIn`. Absent: a browser that is not known. */
  readonly knownBrowser?: string | undefined;
}

export interface PasswordSignIn {
  readonly realm: Realm;
  readonly email: string;
  readonly password: string;
  readonly browser: Browser;
  /** The cookie of `createKnownBrowser`. */
  readonly knownBrowser: string | undefined;
}

/**
 * Signs in by e-mail and password. An unknown e-mail costs the same work, and has the same error.
 * @returns the session in the stage `password` if the user has a second factor. If not, production requires that one is
 * set (`enrol`), and in a sandbox the user is signed in (`full`)
 * @throws SignInError `credentials`, `throttled`, `busy` or `unavailable`
 */
export async function signInWithPassword(
  dependencies: IdentityDependencies,
  { realm, password, browser, ...sent }: PasswordSignIn,
  now: Date,
): Promise<OpenedSession> {
  const { db, sealer, hasher, throttle, rejections } = dependencies;
  const email = sent.email.trim().toLowerCase();
  // PostgreSQL stores no NUL, and no e-mail has a control character.
  const user = /\p{Cc}/u.test(email) ? undefined : await findUserByEmail(db, realm, email);
  const login = { realm, email, passwordChangedAt: user?.passwordChangedAt ?? null };
  const knownBrowser = readKnownBrowser(sealer, login, sent.knownBrowser, now);
  const attempt = { realm, email, address: browser.address, knownBrowser };
  await throttle.countPassword(attempt);
  const stranger = knownBrowser === undefined ? browser.address : null;
  const isEqual = await hasher.verify(user?.passwordHash ?? undefined, password, stranger);
  if (!user || !isEqual) {
    if (user) rejections.record(user.id, browser.address);
    throw new SignInError('credentials', 'The e-mail or the password is wrong.');
  }
  await throttle.forgetFailures(attempt);
  const stage = nextStage(dependencies, user);
  const { passwordHash } = user;
  return openSession(dependencies, user, { stage, method: 'password', passwordHash, browser }, now);
}

function nextStage({ environment }: IdentityDependencies, user: UserCredentials): Exclude<SessionStage, 'passkey'> {
  if (user.sealedTotp !== null || user.hasPasskey) return 'password';
  return environment === 'production' ? 'enrol' : 'full';
}

interface OpeningSession {
  readonly stage: SessionStage;
  readonly method: SignInMethod;
  /** With which the password was compared; null: the method is another one. */
  readonly passwordHash: string | null;
  readonly browser: Browser;
}

/**
 * Opens the session of a user who has proved a part of their identity.
 * @throws SignInError `credentials` if the user is disabled, or has another password, since the proof
 */
export async function openSession(
  { db, log }: Pick<IdentityDependencies, 'log'> & { readonly db: Queryable },
  { id: userId, realm }: Pick<UserCredentials, 'id' | 'realm'>,
  { stage, method, passwordHash, browser }: OpeningSession,
  now: Date,
): Promise<OpenedSession> {
  const { token, tokenSha256 } = createSignInToken('session');
  const [id, expiresAt] = [uuidv7(), expiryOf(realm, stage, now)];
  const steppedUpAt = stage === 'full' ? now : null;
  const session = { id, realm, userId, tokenSha256, stage, method, passwordHash, now, expiresAt, steppedUpAt };
  if (!(await insertSession(db, { ...session, browser: shortened(browser) }))) {
    throw new SignInError('credentials', 'The e-mail or the password is wrong.');
  }
  if (stage === 'full') {
    const by = { userId, merchantId: null, address: browser.address, log };
    await recordEndedStep(db, by, { action: 'session.sign_in', target: id }, null);
  }
  return { sessionId: id, stage, token, expiresAt };
}

function expiryOf(realm: Realm, stage: SessionStage, now: Date): Date {
  const { absoluteMs } = SESSION_LIMITS[realm];
  const durationMs = {
    passkey: PASSWORD_STAGE_MS,
    password: PASSWORD_STAGE_MS,
    enrol: ENROL_STAGE_MS,
    full: absoluteMs,
  };
  return new Date(now.getTime() + durationMs[stage]);
}

/**
 * Completes a sign-in by the second factor.
 * @returns the session with its new token
 * @throws SignInError `code`, `session_ended`, `throttled` or `unavailable`
 */
export async function completeSignIn(
  dependencies: IdentityDependencies,
  session: Session,
  step: SentProof<Exclude<Proof, { kind: 'password' }>>,
  now: Date,
): Promise<OpenedSession> {
  if (session.stage !== 'password') throw sessionEnded();
  const by = identityOf(dependencies, session, step.address);
  return recordedStep(dependencies, by, { action: 'session.sign_in', target: session.id }, async () => {
    await verifyProof(dependencies, session, step, now);
    return renewSession(dependencies.db, session, now);
  });
}

/**
 * Proves the identity of a signed-in user again, before what needs a step-up. A user with a second factor needs it.
 * @returns the session with its new token
 * @throws SignInError as `completeSignIn`, and `credentials`
 */
export async function stepUp(
  dependencies: IdentityDependencies,
  session: Session,
  step: SentProof<Proof>,
  now: Date,
): Promise<OpenedSession> {
  if (session.stage !== 'full') throw sessionEnded();
  const by = identityOf(dependencies, session, step.address);
  return recordedStep(dependencies, by, { action: 'security.step_up', target: session.id }, async () => {
    await verifyProof(dependencies, session, step, now);
    return renewSession(dependencies.db, session, now);
  });
}

async function verifyProof(
  dependencies: IdentityDependencies,
  session: Session,
  { proof, address, knownBrowser }: SentProof<Proof>,
  now: Date,
): Promise<void> {
  const { db, throttle, sealer } = dependencies;
  const user = await findUser(db, session.user.id);
  if (!user) throw sessionEnded();
  const attempt = {
    session,
    address,
    knownBrowser: readKnownBrowser(sealer, user, knownBrowser, now),
    isRecoveryCode: proof.kind === 'recovery_code',
  };
  await throttle.countCode(attempt);
  await compareProof(dependencies, user, proof, now).catch(async (error: unknown) => {
    if (error instanceof SignInError && error.reason === 'code') await noteWrongCode(dependencies, session);
    throw error;
  });
  await throttle.forgetCode(attempt);
}

/** Who sends wrong codes has the password or the session of the user, who has to know it. */
async function noteWrongCode({ db, throttle }: IdentityDependencies, { user }: Session): Promise<void> {
  const count = await throttle.countWrongCode(user.id);
  if (count === WRONG_CODES_OF_NOTICE) await noteWrongCodes(db, user.id);
}

async function compareProof(
  { db, sealer, hasher }: IdentityDependencies,
  user: UserCredentials,
  proof: Proof,
  now: Date,
): Promise<void> {
  const userId = user.id;
  switch (proof.kind) {
    case 'recovery_code':
      return spendRecoveryCode(db, userId, proof.code, now);
    case 'totp':
      if (user.sealedTotp === null || user.totpHmac === null) {
        throw new SignInError('code', 'This user has no authenticator app.');
      }
      return spendTotpCode(
        db,
        sealer,
        { userId, sealedTotp: user.sealedTotp, totpHmac: user.totpHmac },
        proof.code,
        now,
      );
    case 'password': {
      const isEqual = await hasher.verify(user.passwordHash ?? undefined, proof.password);
      if (isEqual && user.sealedTotp === null && !user.hasPasskey) return;
      throw new SignInError('credentials', 'The password is wrong, or this user has a second factor.');
    }
  }
}

/** A session that was full keeps its end. */
export async function renewSession(db: Queryable, session: Session, now: Date): Promise<OpenedSession> {
  const { id: sessionId, stage, realm } = session;
  const { token, tokenSha256 } = createSignInToken('session');
  const expiresAt = stage === 'full' ? session.expiresAt : expiryOf(realm, 'full', now);
  const isRenewed = await rotateSession(db, { sessionId, from: stage, tokenSha256, expiresAt, now });
  if (!isRenewed) throw sessionEnded();
  return { sessionId, stage: 'full', token, expiresAt };
}

/** Renews a session. If it waited for a second factor, the sign-in is complete, and recorded. */
export async function renewEnrolled(
  db: Queryable,
  session: Session,
  by: UserIdentity,
  now: Date,
): Promise<OpenedSession> {
  const renewed = await renewSession(db, session, now);
  if (session.stage === 'enrol') {
    await recordEndedStep(db, by, { action: 'session.sign_in', target: session.id }, null);
  }
  return renewed;
}

interface EnrolledFactor {
  readonly session: OpenedSession;
  /** Shown once. */
  readonly recoveryCodes: readonly string[];
}

/**
 * Sets the authenticator app of the user, instead of an earlier one, with new recovery codes. It completes a sign-in
 * that required a second factor; a complete one has to be stepped up. The user's other browsers are signed out.
 * @param enrolment the hidden field of `beginTotpEnrolment`, and a code of the app
 * @throws SignInError `code`, `session_ended`, `not_stepped_up`, `throttled` or `unavailable`
 */
export async function enrolTotp(
  dependencies: IdentityDependencies,
  session: Session,
  {
    enrolment,
    address,
  }: { readonly enrolment: { readonly sealed: string; readonly code: string }; readonly address: string },
  now: Date,
): Promise<EnrolledFactor> {
  const { db, sealer, throttle } = dependencies;
  if (session.stage === 'password') throw sessionEnded();
  if (session.stage === 'full') requireStepUp(session, now);
  const by = identityOf(dependencies, session, address);
  await throttle.countCode({ session, address, knownBrowser: undefined, isRecoveryCode: false });
  return withUserAudit(db, by, { action: 'security.set_totp', target: session.user.id }, async () => {
    return withLockedLogin(dependencies, session, now, async (client) => {
      await confirmTotpEnrolment(client, sealer, session, enrolment, now);
      const recoveryCodes = await createRecoveryCodes(client, { id: session.user.id, realm: session.realm });
      await endSessionsOf(client, session.user.id, session.id, now);
      return { session: await renewEnrolled(client, session, by, now), recoveryCodes };
    });
  });
}

/** A session that the user left open is not enough to change how the user signs in. @throws SignInError */
export function requireStepUp(session: Session, now: Date): void {
  if (session.stage !== 'full') throw sessionEnded();
  if (isSteppedUp(session, STEP_UP_LIMITS.postMs, now)) return;
  throw new SignInError('not_stepped_up', 'The user has to prove their identity again.');
}

/**
 * One transaction at a time for a user. A session that a concurrent change has ended changes nothing any more. If the
 * work changes a credential, a trigger gives the owners of the user's merchants a notice.
 */
export function withLockedLogin<Result>(
  { db }: Pick<IdentityDependencies, 'db'>,
  { id: sessionId, user }: Session,
  now: Date,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (client) => {
    await lockLogin(client, user.id);
    if (!(await isSessionOpen(client, { sessionId, now }))) throw sessionEnded();
    return work(client);
  });
}

/**
 * Sets the user's password and ends the user's other sessions. The session has to be stepped up.
 * @throws InvalidError `password` with the rule that it violates
 * @throws SignInError `busy`, `session_ended` or `not_stepped_up`
 */
export async function changePassword(
  dependencies: IdentityDependencies,
  session: Session,
  { password, address }: { readonly password: string; readonly address: string },
  now: Date,
): Promise<void> {
  requireStepUp(session, now);
  const { id: userId, email, name } = session.user;
  const merchants = await listMemberships(dependencies.db, userId);
  const owner = { email, names: [name, ...merchants.map((merchant) => merchant.name)] };
  const passwordHash = await hashNewPassword(dependencies.hasher, password, owner);
  const by = identityOf(dependencies, session, address);
  await withUserAudit(dependencies.db, by, { action: 'security.set_password', target: userId }, () =>
    withLockedLogin(dependencies, session, now, (client) =>
      storePassword(client, { userId, passwordHash, keptSessionId: session.id, now }),
    ),
  );
}

/** @throws InvalidError `password`; its message is the `PasswordViolation` */
export async function hashNewPassword(hasher: PasswordHasher, password: string, owner: PasswordOwner): Promise<string> {
  const violation = passwordViolation(password, owner);
  if (violation !== null) throw new InvalidError('password', violation);
  return hasher.hash(password);
}

/**
 * Replaces the recovery codes, and ends the user's other sessions. The session has to be stepped up.
 * @returns the new ones, which are shown once
 * @throws SignInError `session_ended` or `not_stepped_up`
 */
export async function replaceRecoveryCodes(
  dependencies: IdentityDependencies,
  session: Session,
  address: string,
  now: Date,
): Promise<string[]> {
  requireStepUp(session, now);
  const { user, realm } = session;
  const by = identityOf(dependencies, session, address);
  return withUserAudit(dependencies.db, by, { action: 'security.set_recovery_codes', target: user.id }, () =>
    withLockedLogin(dependencies, session, now, async (client) => {
      await endSessionsOf(client, user.id, session.id, now);
      return createRecoveryCodes(client, { id: user.id, realm });
    }),
  );
}

export function identityOf({ log }: IdentityDependencies, { user }: Session, address: string): UserIdentity {
  return { userId: user.id, merchantId: null, address, log };
}

/** Records a step with its outcome after it: the step itself changes nothing but the session. */
export async function recordedStep<Result>(
  { db }: IdentityDependencies,
  by: UserIdentity,
  action: { readonly action: UserActionName; readonly target: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const result = await work().catch(async (error: unknown) => {
    if (error instanceof SignInError) await recordEndedStep(db, by, action, error.reason);
    throw error;
  });
  await recordEndedStep(db, by, action, null);
  return result;
}

export const sessionEnded = () => new SignInError('session_ended', 'The sign-in has ended. Sign in again.');
