import type { Queryable } from '../connection/pool';

/**
 * Locks the login of a user until the end of the transaction. Whatever changes its credentials does so first. Each
 * statement after it sees the sessions that a concurrent sign-in or change has left. A single statement would see those
 * of before its wait.
 */
export async function lockLogin(db: Queryable, userId: string): Promise<void> {
  await db.query('select from users where id = $1 for no key update', [userId]);
}

/** Whether the session is still one of a user who may sign in. */
export async function isSessionOpen(
  db: Queryable,
  { sessionId, now }: { readonly sessionId: string; readonly now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from sessions join users person on person.id = sessions.user_id and person.disabled_at is null
     where sessions.id = $1 and sessions.ended_at is null and sessions.expires_at > $2`,
    [sessionId, now],
  );
  return rowCount === 1;
}
