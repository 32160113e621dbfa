import type { KeyRing } from '../crypto/master-keys';
import type { Queryable } from '../db/connection/pool';
import { listSealingKeyIds } from '../db/operations/list-sealing-key-ids';
import { UserError } from '../errors';

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
