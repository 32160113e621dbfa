import type { Language } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

/** Sets the language of a user who has no session but this one, and has chosen none yet. */
export async function setFirstLanguage(
  db: Queryable,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  language: Language,
): Promise<void> {
  await db.query(
    `update users set language = $3 where id = $1 and realm = 'merchant'
       and not exists (select from sessions where user_id = $1 and id <> $2)`,
    [userId, sessionId, language],
  );
}

export interface UserProfile {
  /** Absent: it stays. */
  readonly name?: string;
  readonly language: Language;
}

/** Sets what the user has chosen. */
export async function setUserProfile(db: Queryable, userId: string, { name, language }: UserProfile): Promise<void> {
  const text = "update users set name = coalesce($2, name), language = $3 where id = $1 and realm = 'merchant'";
  await db.query(text, [userId, name, language]);
}
