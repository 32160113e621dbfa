import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/db/connection/pool';
import { insertKey, type ApiKey, type NewKey } from '../../src/services/merchants/keys/api-key';
import { revokeKey } from '../../src/services/merchants/keys/revoke-key';
import { osUser } from './actors';

/** A new key with its secret, as the installation issues it. */
export async function issueKey(db: Queryable, key: NewKey): Promise<ApiKey & { readonly secret: string }> {
  const issued = await insertKey(db, key);
  if (issued === null) throw new Error(`There is a key ${key.id} already`);
  return issued;
}

/** Revokes a key as an operator does. */
export async function revokeAsOperator(db: Queryable, keyId: string): Promise<void> {
  const call = { path: { key: keyId }, input: {}, formId: randomUUID() };
  const { outcome } = await revokeKey.run({ db }, osUser('root'), call);
  if (outcome !== 'done') throw new Error(`Key ${keyId} was not revoked`);
}

/** Ends the key of an operator, as a superuser does. */
export async function endOperatorKey(db: Queryable, operatorId: string): Promise<void> {
  await db.query('update operators set revoked_at = now() where id = $1', [operatorId]);
}
