import type { Queryable } from '../connection/pool';

/** The ids of the master keys that sealed the values of this database. */
export async function listSealingKeyIds(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ keyId: string }>('select key_id as "keyId" from sealing_key_ids order by 1');
  return rows.map(({ keyId }) => keyId);
}
