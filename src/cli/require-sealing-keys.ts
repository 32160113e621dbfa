import { createPool, type Queryable } from '../db/pool';
import { listSealingKeyIds } from '../db/queries/list-sealing-key-ids';
import { UserError } from '../errors';
import type { Logger } from '../logger';
import type { KeyRing } from '../master-keys';

/**
 * Compares the master keys with the sealed values of the database, so that nothing is sealed with a wrong key.
 * @throws UserError that names the keys
 */
export async function requireSealingKeys(db: Queryable, keys: KeyRing): Promise<void> {
  const missing = (await listSealingKeyIds(db)).filter((keyId) => keys.byId(keyId) === undefined);
  if (missing.length === 0) return;
  throw new UserError(
    `The database has values sealed with master key ${missing.join(', ')}, but LUNAS_MASTER_KEY is key ` +
      `${keys.current.id}. Set the right key, or add the missing one to LUNAS_OLD_MASTER_KEYS.`,
  );
}

/** The same before a process starts. As with its schema, an unavailable database is accepted. */
export async function requireSealingKeysAtStart(databaseUrl: string, keys: KeyRing, log: Logger): Promise<void> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    await requireSealingKeys(db, keys);
  } catch (error) {
    if (error instanceof UserError) throw error;
    log.warn({ err: error }, 'master keys not compared with the database');
  } finally {
    await db.end();
  }
}
