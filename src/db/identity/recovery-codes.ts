import type { Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

interface NewRecoveryCodes {
  readonly userId: string;
  readonly realm: Realm;
  readonly hashes: readonly Buffer[];
}

/** Replaces all recovery codes of the user. */
export async function replaceRecoveryCodeRows(
  db: Queryable,
  { userId, realm, hashes }: NewRecoveryCodes,
): Promise<void> {
  await db.query(
    `with replaced as (delete from recovery_codes where user_id = $1)
     insert into recovery_codes (user_id, realm, code_sha256) select $1, $2, unnest($3::bytea[])`,
    [userId, realm, hashes],
  );
}

/** Uses a code for good. @returns false if the user has no such code, or it was used */
export async function takeRecoveryCode(db: Queryable, userId: string, hash: Buffer, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    'update recovery_codes set used_at = $3 where user_id = $1 and code_sha256 = $2 and used_at is null',
    [userId, hash, now],
  );
  return rowCount === 1;
}

/** How many codes the user has left. */
export async function countUnusedRecoveryCodes(db: Queryable, userId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from recovery_codes where user_id = $1 and used_at is null',
    [userId],
  );
  return rows[0]?.count ?? 0;
}
