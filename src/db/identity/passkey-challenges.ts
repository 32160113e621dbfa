import type { Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

interface Challenge {
  readonly sessionId: string;
  /** In base64url. */
  readonly challenge: string;
  readonly expiresAt: Date;
}

/** Stores what a passkey has to sign. An earlier challenge of the session is not accepted any more. */
export async function storeChallenge(db: Queryable, { sessionId, challenge, expiresAt }: Challenge): Promise<void> {
  await db.query('update sessions set challenge = $2, challenge_expires_at = $3 where id = $1 and ended_at is null', [
    sessionId,
    challenge,
    expiresAt,
  ]);
}

/** Uses the challenge of a session for good. @returns undefined if there is none, or it has expired */
export async function takeChallenge(db: Queryable, sessionId: string, now: Date): Promise<string | undefined> {
  const { rows } = await db.query<{ challenge: string }>(
    `update sessions set challenge = null, challenge_expires_at = null
     from (select id, challenge from sessions where id = $1 and ended_at is null and challenge is not null for update)
       as before
     where sessions.id = before.id and sessions.challenge_expires_at > $2
     returning before.challenge`,
    [sessionId, now],
  );
  return rows[0]?.challenge;
}

/** Takes the challenge of a session that waits for a passkey of any user. The session ends by that. */
export async function takeSignInChallenge(
  db: Queryable,
  { realm, tokenSha256, now }: { readonly realm: Realm; readonly tokenSha256: Buffer; readonly now: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ challenge: string }>(
    `update sessions set ended_at = $3
     where token_sha256 = $2 and realm = $1 and stage = 'passkey' and ended_at is null and challenge_expires_at > $3
     returning challenge`,
    [realm, tokenSha256, now],
  );
  return rows[0]?.challenge;
}
