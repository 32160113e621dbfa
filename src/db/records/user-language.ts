import type { Language } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

/** Sets the language of the user's pages. */
export async function setUserLanguage(db: Queryable, userId: string, language: Language): Promise<void> {
  await db.query("update users set language = $2 where id = $1 and realm = 'merchant'", [userId, language]);
}
