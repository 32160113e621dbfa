import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Environment } from '../../../config';
import { createSecretKey, maskSecretKey, type StoredKey } from '../../../crypto/secret-key';
import { findCell } from '../../../db/connection/environment';
import type { Queryable } from '../../../db/connection/pool';
import { requireRow } from '../../../db/connection/require-row';
import { userNameSql } from '../../../db/identity/users';
import { KEY_ACCESS_COLUMNS, networksOf } from '../../../db/merchants/key-access-columns';
import { requireMerchant } from '../../../db/merchants/require-merchant';
import { actorText, type ActorIdentity, type Scope } from '../../../domain/actor';
import type { KeyAccess, MerchantScope, NewKeyAccess } from '../../../domain/key-access';
import { isNetwork } from '../../../lib/allowed-networks';

/** The longest name of a key, in characters. */
export const MAX_KEY_NAME_CHARACTERS = 64;

/** The most addresses and networks from which a key may be used. */
export const MAX_KEY_NETWORKS = 50;

export const keyName = z
  .string()
  .min(1)
  .max(MAX_KEY_NAME_CHARACTERS)
  .refine((text) => !text.includes('\0'));

export const keyNetworks = z.array(z.string().refine(isNetwork)).max(MAX_KEY_NETWORKS);

/** A merchant's secret key without the secret. */
export interface ApiKey extends KeyAccess<MerchantScope> {
  readonly id: string;
  readonly merchantId: string;
  /** `sk_test_…` and the last four characters. */
  readonly masked: string;
  /** What its owner calls it; null: it has no name. */
  readonly name: string | null;
  /** The actor; null: the installation. */
  readonly createdBy: string | null;
  /** To the minute; null: never used. */
  readonly lastUsedAt: Date | null;
  /** The caller's IP address then. */
  readonly lastUsedFrom: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** A key, and who created it. */
export interface ApiKeyDetails extends ApiKey {
  /** The name of the user who created it; null: another actor did. */
  readonly creatorName: string | null;
}

/** A key that an operation has issued. */
export interface IssuedKey extends ApiKey {
  /** The secret is nowhere stored. Null: the same form has issued the key before, or an operator has it. */
  readonly secret: string | null;
}

export interface NewKey extends Pick<ApiKey, 'merchantId'>, NewKeyAccess<MerchantScope> {
  /** Absent: a new one. */
  readonly id?: string;
  /** 1 to 64 characters; absent: it has no name. */
  readonly name?: string | undefined;
  /** Absent: the installation. */
  readonly createdBy?: ActorIdentity | undefined;
  readonly environment: Environment;
}

/** A row of `KEY_COLUMNS`. */
export type KeyRow = Omit<ApiKey, 'masked'> & { readonly prefix: string; readonly lastFour: string };

export const KEY_COLUMNS = `id, merchant_id as "merchantId", prefix, last_four as "lastFour", name,
  created_by as "createdBy", ${KEY_ACCESS_COLUMNS}, last_used_at as "lastUsedAt",
  host(last_used_from) as "lastUsedFrom", created_at as "createdAt", revoked_at as "revokedAt"`;

export function describeKey<Row extends KeyRow>({ prefix, lastFour, ...key }: Row) {
  return { ...key, masked: maskSecretKey({ prefix, lastFour }) };
}

/**
 * Stores the hash of a new secret key; only the result contains the secret.
 * @returns null if there is a key with this id already
 * @throws NotFoundError if there is no such merchant
 */
export async function insertKey(
  db: Queryable,
  { environment, ...key }: NewKey,
): Promise<(ApiKey & { readonly secret: string }) | null> {
  const { secret, ...stored } = createSecretKey(environment, await findCell(db));
  const inserted = await storeKey(db, key, stored);
  return inserted && { ...inserted, secret };
}

/** Stores a key whose secret another one has made. Result and errors: as for `insertKey`. */
export async function storeKey(
  db: Queryable,
  key: Omit<NewKey, 'environment'>,
  { secretSha256, prefix, lastFour }: StoredKey,
): Promise<ApiKey | null> {
  await requireMerchant(db, key.merchantId);
  const { rows } = await db.query<KeyRow>(
    `insert into api_keys
       (id, merchant_id, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at, name, created_by)
     values ($1, $2, $3, $4, $5, ${networksOf('$6')}, $7, $8, $9, $10)
     on conflict (id) do nothing returning ${KEY_COLUMNS}`,
    [
      key.id ?? uuidv7(),
      key.merchantId,
      secretSha256,
      prefix,
      lastFour,
      key.allowedNetworks ?? [],
      key.scopes,
      key.expiresAt,
      key.name,
      key.createdBy && actorText(key.createdBy),
    ],
  );
  return rows[0] === undefined ? null : describeKey(rows[0]);
}

/** @throws NotFoundError if there is no such key in the scope */
export async function findKey(db: Queryable, scope: Scope, keyId: string): Promise<ApiKeyDetails> {
  return requireRow(await selectKeys(db, scope, keyId), 'key', keyId);
}

/** The key that the same form has issued before; null: it has issued none. */
export async function findIssuedKey(db: Queryable, scope: Scope, keyId: string): Promise<IssuedKey | null> {
  const [key] = await selectKeys(db, scope, keyId);
  return key === undefined ? null : { ...key, secret: null };
}

async function selectKeys(db: Queryable, scope: Scope, keyId: string): Promise<ApiKeyDetails[]> {
  const { rows } = await db.query<KeyRow & Pick<ApiKeyDetails, 'creatorName'>>({
    name: 'find_key',
    text: `select ${KEY_COLUMNS}, ${userNameSql('created_by')} as "creatorName" from api_keys
      where id = $1 and ($2::uuid is null or merchant_id = $2)`,
    values: [keyId, scope === 'all' ? null : scope.merchantId],
  });
  return rows.map(describeKey);
}

/** In the order of their creation, revoked ones included. @throws NotFoundError if there is no such merchant */
export async function listKeys(db: Queryable, merchantId: string): Promise<ApiKey[]> {
  await requireMerchant(db, merchantId);
  const { rows } = await db.query<KeyRow>(
    `select ${KEY_COLUMNS} from api_keys where merchant_id = $1 order by created_at, id`,
    [merchantId],
  );
  return rows.map(describeKey);
}

/** More than any merchant has in use: a page shows no more. */
const MAX_LISTED = 200;

/** The newest keys first, those that can be used before those that cannot; at most 200. */
export async function listNewestKeys(db: Queryable, merchantId: string): Promise<ApiKey[]> {
  const { rows } = await db.query<KeyRow>({
    name: 'list_newest_keys',
    text: `select ${KEY_COLUMNS} from api_keys where merchant_id = $1
      order by revoked_at is not null or coalesce(expires_at <= now(), false), created_at desc, id desc
      limit ${MAX_LISTED}`,
    values: [merchantId],
  });
  return rows.map(describeKey);
}

/** The keys in use that a user created at this merchant, the newest first; at most 200. */
export async function listKeysOfCreator(
  db: Queryable,
  { merchantId, userId }: { readonly merchantId: string; readonly userId: string },
): Promise<ApiKey[]> {
  const { rows } = await db.query<KeyRow>({
    name: 'list_keys_of_creator',
    text: `select ${KEY_COLUMNS} from api_keys
      where merchant_id = $1 and created_by = $2 and revoked_at is null and (expires_at is null or expires_at > now())
      order by created_at desc, id desc limit ${MAX_LISTED}`,
    values: [merchantId, actorText({ kind: 'merchant_user', id: userId })],
  });
  return rows.map(describeKey);
}
