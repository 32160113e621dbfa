import { isIPv6, SocketAddress } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Environment } from '../../config';
import { createSecretKey, maskSecretKey } from '../../crypto/secret-key';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { DeclaredAction } from '../../domain/declared-action';
import type { KeyAccess, MerchantScope, NewKeyAccess } from '../../domain/key-access';
import { requireMerchant } from './merchants';

/** A merchant's secret key without the secret. */
export interface ApiKey extends KeyAccess<MerchantScope> {
  readonly id: string;
  readonly merchantId: string;
  /** `sk_test_…` and the last four characters. */
  readonly masked: string;
  /** To the minute; null: never used. */
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface NewKey extends Pick<ApiKey, 'merchantId'>, NewKeyAccess<MerchantScope> {
  /** Absent: a new one. */
  readonly id?: string;
  readonly environment: Environment;
}

type KeyRow = Omit<ApiKey, 'masked'> & { readonly prefix: string; readonly lastFour: string };

/** The columns of `KeyAccess`. */
export const KEY_ACCESS_COLUMNS = `allowed_networks as "allowedNetworks", scopes, expires_at as "expiresAt"`;

const KEY_COLUMNS = `id, merchant_id as "merchantId", prefix, last_four as "lastFour",
  ${KEY_ACCESS_COLUMNS}, last_used_at as "lastUsedAt", created_at as "createdAt", revoked_at as "revokedAt"`;

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

/**
 * Stores the hash of a new secret key; only the result contains the secret.
 * @throws NotFoundError if there is no such merchant
 */
export async function createKey(db: Queryable, key: NewKey): Promise<ApiKey & { readonly secret: string }> {
  const { secret, secretSha256, prefix, lastFour } = createSecretKey(key.environment);
  const { rows } = await db.query<KeyRow>(
    `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at)
     select $1, merchants.id, $3, $4, $5, ${networksOf('$6')}, $7, $8
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
    ],
  );
  return { ...describe(requireRow(rows, 'merchant', key.merchantId)), secret };
}

/** In the order of their creation, revoked ones included. @throws NotFoundError if there is no such merchant */
export async function listKeys(db: Queryable, merchantId: string): Promise<ApiKey[]> {
  await requireMerchant(db, merchantId);
  const { rows } = await db.query<KeyRow>(
    `select ${KEY_COLUMNS} from api_keys where merchant_id = $1 order by created_at, id`,
    [merchantId],
  );
  return rows.map(describe);
}

export const REVOKE_KEY = new DeclaredAction('key.revoke');

/** Permanent. A key that was revoked before keeps its timestamp. @throws NotFoundError if there is no such key */
export async function revokeKey(db: Queryable, keyId: string): Promise<ApiKey> {
  const { rows } = await db.query<KeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${KEY_COLUMNS}`,
    [keyId],
  );
  return describe(requireRow(rows, 'key', keyId));
}

function describe({ prefix, lastFour, ...key }: KeyRow): ApiKey {
  return { ...key, masked: maskSecretKey({ prefix, lastFour }) };
}
