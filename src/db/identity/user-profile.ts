import type { Language } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

/** Sets the language of the user's pages. */
export async function setUserLanguage(db: Queryable, userId: string, language: Language): Promise<void> {
  await db.query("update users set language = $2 where id = $1 and realm = 'merchant'", [userId, language]);
}

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

/** Sets the name and the language that the user has chosen. */
export async function setUserProfile(
  db: Queryable,
  userId: string,
  { name, language }: { readonly name: string; readonly language: Language },
): Promise<void> {
  await db.query("update users set name = $2, language = $3 where id = $1 and realm = 'merchant'", [
    userId,
    name,
    language,
  ]);
}
