import type { VerifiedRegistrationResponse } from '@simplewebauthn/server';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { findPasskey, recordPasskeyUse, type StoredPasskey } from '../../db/identity/passkeys';
import type { Realm } from '../../domain/sign-in';
import { messageOf, SignInError } from '../../errors';

/** The library, which is 8 MB of memory: the process loads it with the first passkey. */
export const loadWebAuthn = () => import('@simplewebauthn/server');

/** What a browser sent of a passkey, and the challenge that it has to have signed. */
interface Signed {
  /** JSON of `PublicKeyCredential.toJSON()`. */
  readonly response: string;
  readonly challenge: string;
  /** The address of the pages. Its host is the RP ID. */
  readonly origin: URL;
}

const base64Url = z.base64url().min(1).max(8_192);
const credential = {
  id: base64Url.max(2_048),
  rawId: base64Url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
};
const registrationSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64Url,
    attestationObject: base64Url,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .default([]),
  }),
});
const authenticationSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64Url,
    authenticatorData: base64Url,
    signature: base64Url,
    userHandle: base64Url.optional(),
  }),
});

/** The user id as WebAuthn has it: its text in bytes. */
export const userHandleOf = (userId: string) => new TextEncoder().encode(userId);

/** @throws SignInError `passkey` */
export async function verifyNewPasskey({ response: text, challenge, origin }: Signed) {
  const response = parsed(registrationSchema, text);
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const verified: VerifiedRegistrationResponse = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin.origin,
    expectedRPID: origin.hostname,
    requireUserVerification: true,
  }).catch(rejectPasskey);
  if (!verified.verified) throw invalidPasskey();
  const { credential: created, credentialBackedUp: isBackedUp } = verified.registrationInfo;
  const { id: credentialId, publicKey, counter } = created;
  return { credentialId, publicKey, counter, isBackedUp, transports: response.response.transports };
}

/** A passkey whose signature is correct. */
export interface ProvedPasskey {
  readonly passkey: StoredPasskey;
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/**
 * Verifies the signature of a known passkey, with user verification. Nothing is stored yet (`spendPasskey`).
 * @param onRejection called with the user of a known passkey whose signature is not correct
 * @throws SignInError `passkey`
 */
export async function verifyPasskey(
  db: Queryable,
  realm: Realm,
  { response: text, challenge, origin }: Signed,
  onRejection: (userId: string) => void = () => undefined,
): Promise<ProvedPasskey> {
  const response = parsed(authenticationSchema, text);
  const passkey = await findPasskey(db, { realm, rpId: origin.hostname, credentialId: response.id });
  if (!passkey) throw invalidPasskey();
  try {
    const { userHandle, ...signed } = response.response;
    const isOther = userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== passkey.userId;
    if (isOther) throw invalidPasskey();
    const { verifyAuthenticationResponse } = await loadWebAuthn();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...response, response: signed },
      expectedChallenge: challenge,
      expectedOrigin: origin.origin,
      expectedRPID: origin.hostname,
      credential: { id: passkey.credentialId, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
      requireUserVerification: true,
    });
    if (!verified) throw invalidPasskey();
    return { passkey, counter: authenticationInfo.newCounter, isBackedUp: authenticationInfo.credentialBackedUp };
  } catch (error) {
    onRejection(passkey.userId);
    return rejectPasskey(error);
  }
}

/**
 * Records the use of a passkey. The caller holds `lockLogin`, so a reset or a removal is before it or after it.
 * @throws SignInError `passkey` if it was removed, or its counter has not grown
 */
export async function spendPasskey(db: Queryable, proved: ProvedPasskey, now: Date): Promise<void> {
  const { passkey, counter, isBackedUp } = proved;
  if (!(await recordPasskeyUse(db, { id: passkey.id, counter, isBackedUp, now }))) throw invalidPasskey();
}

export const invalidPasskey = (cause?: unknown) =>
  new SignInError('passkey', 'The passkey was not accepted.', undefined, { cause });

/** The library throws an error of its own for each check. */
function rejectPasskey(error: unknown): never {
  throw error instanceof SignInError ? error : invalidPasskey(messageOf(error));
}

/** A field of a form can have any text. */
function parsed<Result>(schema: z.ZodType<Result>, text: string): Result {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    return rejectPasskey(error);
  }
}
