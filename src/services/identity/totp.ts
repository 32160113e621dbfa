import { Secret, TOTP } from 'otpauth';
import { fixValue, openFixed } from '../../crypto/fixed-value';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { storeTotp, takeTotpStep } from '../../db/identity/users';
import { SignInError } from '../../errors';
import type { Session } from './sessions';

const ISSUER = 'Lunas';
const STEP_SECONDS = 30;
/** Steps before and after the current one, for clocks that differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;
const CODE = /^\d{6}$/;

/** What a user needs to add Lunas to an authenticator app. */
export interface TotpEnrolment {
  /** In base 32, to be typed. */
  readonly secret: string;
  /** `otpauth://…`, for the QR image. */
  readonly uri: string;
  /** The secret for the form's hidden field. It opens only for this session. */
  readonly sealed: string;
}

interface EnrollingSession {
  readonly id: string;
  readonly stage: Session['stage'];
  readonly user: { readonly id: string; readonly email: string };
}

/**
 * A secret for an authenticator app. Nothing is stored until the user confirms it with a code.
 * @param sealed that of a form whose code was wrong: the app has its secret already. Absent: a new secret
 */
export function beginTotpEnrolment(sealer: Sealer, { id, user }: EnrollingSession, sealed = ''): TotpEnrolment {
  const secret = openEnrolment(sealer, id, sealed) ?? new Secret({ size: SECRET_BYTES }).base32;
  const uri = authenticator(secret, user.email).toString();
  return { secret, uri, sealed: sealer.seal(secret, ['totp-enrolment', id]) };
}

/**
 * Stores the secret as the user's only one. The code that confirms it is used by that. Only a complete sign-in replaces
 * a second factor: who knew only the password may have begun another sign-in before the user set one.
 * @throws SignInError `code` or `session_ended`
 */
export async function confirmTotpEnrolment(
  db: Queryable,
  sealer: Sealer,
  { id, stage, user }: EnrollingSession,
  { sealed, code }: { readonly sealed: string; readonly code: string },
  now: Date,
): Promise<void> {
  const secret = openEnrolment(sealer, id, sealed);
  const step = secret === undefined ? null : stepOf(secret, code, now);
  if (secret === undefined || step === null) throw wrongCode();
  const { sealed: sealedTotp, hash: totpHmac } = fixValue(sealer, secret, ['totp', user.id]);
  const isStored = await storeTotp(db, user.id, { sealedTotp, totpHmac, lastStep: step, replaces: stage === 'full' });
  if (!isStored) throw new SignInError('session_ended', 'The user has a second factor: sign in with it.');
}

/** A field of a form can have any text. */
function openEnrolment(sealer: Sealer, sessionId: string, sealed: string): string | undefined {
  try {
    return sealer.open(sealed, ['totp-enrolment', sessionId]);
  } catch {
    return undefined;
  }
}

/** A user's secret as it is stored. */
interface SealedTotp {
  readonly userId: string;
  readonly sealedTotp: string;
  readonly totpHmac: string;
}

/**
 * Uses a code, which is good once: the statement that compares its step with the newest one also stores it.
 * @throws SignInError `code` if it is wrong, or was used
 * @throws Error if the secret is not the one that the user confirmed: no code of it is good
 */
export async function spendTotpCode(
  db: Queryable,
  sealer: Sealer,
  { userId, sealedTotp, totpHmac }: SealedTotp,
  code: string,
  now: Date,
): Promise<void> {
  const secret = await openFixed({ db, sealer }, { sealed: sealedTotp, hash: totpHmac }, ['totp', userId]);
  if (secret === undefined) throw new Error(`The TOTP secret of user ${userId} was changed: reset the user`);
  const step = stepOf(secret, code, now);
  if (step === null || !(await takeTotpStep(db, { userId, sealedTotp, step }))) throw wrongCode();
}

/** The step that the code is of; null if it is of none near now. */
function stepOf(secret: string, code: string, now: Date): number | null {
  if (!CODE.test(code)) return null;
  const timestamp = now.getTime();
  const delta = authenticator(secret, ISSUER).validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? null : Math.floor(timestamp / (STEP_SECONDS * 1_000)) + delta;
}

function authenticator(secret: string, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS, secret });
}

const wrongCode = () => new SignInError('code', 'The code is wrong, or it was used before.');
