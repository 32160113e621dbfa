import { isIPv6, SocketAddress } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Environment } from '../../config';
import { createSecretKey, maskSecretKey } from '../../crypto/secret-key';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { actorText, type ActorIdentity } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import type { KeyAccess, MerchantScope, NewKeyAccess } from '../../domain/key-access';
import { codeOf, ConflictError } from '../../errors';
import { requireMerchant } from './merchants';

/** The longest name of a key, in characters. */
export const MAX_KEY_NAME_CHARACTERS = 64;

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

/** The columns of `KeyAccess`. */
export const KEY_ACCESS_COLUMNS = `allowed_networks as "allowedNetworks", scopes, expires_at as "expiresAt"`;

export const KEY_COLUMNS = `id, merchant_id as "merchantId", prefix, last_four as "lastFour", name,
  created_by as "createdBy", ${KEY_ACCESS_COLUMNS}, last_used_at as "lastUsedAt",
  host(last_used_from) as "lastUsedFrom", created_at as "createdAt", revoked_at as "revokedAt"`;

/** The distinct networks of a parameter with addresses and networks. */
export function networksOf(parameter: string): string {
  return `(select coalesce(array_agg(distinct network(network_or_address::inet)), '{}')
    from unnest(${parameter}::text[]) network_or_address)`;
}

const networkSchema = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/**
 * Whether the text is an IPv4 or IPv6 address or a network in CIDR form. IPv4 in IPv6 notation is not accepted: the API
 * compares callers' addresses in IPv4 notation, so it would never match.
 */
export function isNetwork(text: string): boolean {
  return networkSchema.safeParse(text).success && !isMappedIpv4(text);
}

const MAPPED_IPV4 = /^::ffff:[\d.]+$/;

/** In every notation: `::ffff:10.0.0.1`, `0:0:0:0:0:FFFF:a00:1`, and networks of such addresses. */
function isMappedIpv4(text: string): boolean {
  const [address = ''] = text.split('/');
  return isIPv6(address) && MAPPED_IPV4.test(new SocketAddress({ address, family: 'ipv6' }).address);
}

export const CREATE_KEY = new DeclaredAction('key.create');

/** A key with its secret, which is nowhere stored. */
export type IssuedKey = ApiKey & { readonly secret: string };

/**
 * Stores the hash of a new secret key; only the result contains the secret.
 * @throws NotFoundError if there is no such merchant
 * @throws ConflictError `key_exists` if there is a key with this id
 */
export async function createKey(db: Queryable, key: NewKey): Promise<IssuedKey> {
  const { secret, secretSha256, prefix, lastFour } = createSecretKey(key.environment);
  const { rows } = await insertOnce<KeyRow>(
    db,
    `insert into api_keys
       (id, merchant_id, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at, name, created_by)
     select $1, merchants.id, $3, $4, $5, ${networksOf('$6')}, $7, $8, $9, $10
     from merchants where merchants.id = $2
     returning ${KEY_COLUMNS}`,
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
  return { ...describeKey(requireRow(rows, 'merchant', key.merchantId)), secret };
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

export const REVOKE_KEY = new DeclaredAction('key.revoke');

/** Permanent. A key that was revoked before keeps its timestamp. @throws NotFoundError if there is no such key */
export async function revokeKey(db: Queryable, keyId: string): Promise<ApiKey> {
  const { rows } = await db.query<KeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${KEY_COLUMNS}`,
    [keyId],
  );
  return describeKey(requireRow(rows, 'key', keyId));
}

const UNIQUE_VIOLATION = '23505';

/**
 * Executes a statement that inserts a key.
 * @throws ConflictError `key_exists` if there is a key with its id
 */
export async function insertOnce<Row extends object>(db: Queryable, text: string, values: readonly unknown[]) {
  try {
    return await db.query<Row>(text, [...values]);
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    throw new ConflictError('key_exists', 'The key exists. Its secret is shown only once.');
  }
}

export function describeKey({ prefix, lastFour, ...key }: KeyRow): ApiKey {
  return { ...key, masked: maskSecretKey({ prefix, lastFour }) };
}
