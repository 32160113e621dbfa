import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { createSignInToken } from '../../crypto/sign-in-token';
import { actorText, requesterOf, type Person } from '../../domain/actor';

const HOUR_MS = 3_600_000;
export const INVITATION_MS = 72 * HOUR_MS;
export const RESET_MS = HOUR_MS;

export const MAX_EMAIL_CHARACTERS = 254;
export const invitedEmail = z.email().max(MAX_EMAIL_CHARACTERS).toLowerCase();

/** A link that is passed on once: the database has only the hash of its token. */
export function newLink() {
  return { id: uuidv7(), ...createSignInToken('link') };
}

/** The times of a link that is valid from now on. */
export function validFor(milliseconds: number) {
  const now = new Date();
  return { now, expiresAt: new Date(now.getTime() + milliseconds) };
}

/** A link whose token an operator passes on. A request has only its hash, which the approval compares. */
export const linkInput = z.object({ linkId: z.uuid(), tokenSha256: z.string().regex(/^[\da-f]{64}$/) });

/** The columns of a link of an operator. Who asked for it has seen its token. */
export function linkOf(by: Person, { linkId, tokenSha256 }: z.output<typeof linkInput>) {
  return { id: linkId, tokenSha256: Buffer.from(tokenSha256, 'hex'), createdBy: actorText(requesterOf(by)) };
}
