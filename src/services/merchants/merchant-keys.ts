import { BlockList, isIPv6 } from 'node:net';
import type { Environment } from '../../config';
import { createSecretKey } from '../../crypto/secret-key';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { userNameSql } from '../../db/identity/users';
import { actorText, type ActorIdentity } from '../../domain/actor';
import { ConflictError } from '../../errors';
import { describeKey, insertOnce, KEY_COLUMNS, networksOf, type ApiKey, type IssuedKey, type KeyRow } from './keys';

/** One of a merchant's own keys. */
interface OwnKey {
  readonly merchantId: string;
  readonly keyId: string;
}

/** A key, and who created it. */
export interface OwnKeyDetails extends ApiKey {
  /** The name of the user who created it; null: another actor did. */
  readonly creatorName: string | null;
}

/**
 * Whether requests from the address may use a key with these networks.
 * @param address IPv4 is in IPv4 notation
 * @param networks in CIDR form, or addresses
 */
export function allowsAddress(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true;
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIPv6(base) ? 'ipv6' : 'ipv4';
    list.addSubnet(base, bits === undefined ? ADDRESS_BITS[family] : Number(bits), family);
  }
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

const ADDRESS_BITS = { ipv4: 32, ipv6: 128 } as const;

const OWN_KEY_COLUMNS = `${KEY_COLUMNS}, ${userNameSql('created_by')} as "creatorName"`;

type OwnKeyRow = KeyRow & Pick<OwnKeyDetails, 'creatorName'>;

function describeOwnKey({ creatorName, ...row }: OwnKeyRow): OwnKeyDetails {
  return { ...describeKey(row), creatorName };
}

/** More than any merchant has in use: a page shows no more. */
const MAX_LISTED = 200;

/** The newest first, those that can be used before those that cannot; at most 200. */
export async function listOwnKeys(db: Queryable, merchantId: string): Promise<ApiKey[]> {
  const { rows } = await db.query<KeyRow>({
    name: 'list_own_keys',
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

/** @throws NotFoundError if the merchant has no such key */
export async function findOwnKey(db: Queryable, { merchantId, keyId }: OwnKey): Promise<OwnKeyDetails> {
  const { rows } = await db.query<OwnKeyRow>({
    name: 'find_own_key',
    text: `select ${OWN_KEY_COLUMNS} from api_keys where merchant_id = $1 and id = $2`,
    values: [merchantId, keyId],
  });
  return describeOwnKey(requireRow(rows, 'key', keyId));
}

/** What its owner can change of a key. */
export interface KeyChanges {
  /** 1 to 64 characters. */
  readonly name: string;
  /** Addresses and networks that satisfy `isNetwork`; empty: from anywhere. */
  readonly allowedNetworks: readonly string[];
}

/** @throws NotFoundError if the merchant has no such key */
export async function updateKey(db: Queryable, { merchantId, keyId }: OwnKey, changes: KeyChanges): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `update api_keys set name = $3, allowed_networks = ${networksOf('$4')}
     where merchant_id = $1 and id = $2 returning id`,
    [merchantId, keyId, changes.name, changes.allowedNetworks],
  );
  requireRow(rows, 'key', keyId);
}

export interface KeyRotation {
  readonly newKeyId: string;
  /** How long the old key can still be used. */
  readonly overlapHours: number;
  readonly environment: Environment;
  readonly createdBy: ActorIdentity;
}

/**
 * Creates a key with the name, the scopes and the networks of an old one, which expires after the overlap or at its own
 * earlier expiry. A key with an expiry is replaced by one with the same lifetime. One statement: a rotation that is
 * repeated with the same new id changes nothing.
 * @throws ConflictError `key_exists` if this rotation was made before
 * @throws ConflictError `not_allowed` if the old key is absent, revoked or expired
 */
export async function rotateKey(
  db: Queryable,
  { merchantId, keyId }: OwnKey,
  rotation: KeyRotation,
): Promise<IssuedKey> {
  const { secret, secretSha256, prefix, lastFour } = createSecretKey(rotation.environment);
  const { rows } = await insertOnce<KeyRow>(
    db,
    `with old as (
       select id as old_id, merchant_id as owner, name as old_name, scopes as old_scopes,
         allowed_networks as old_networks, now() + (expires_at - created_at) as new_expiry
       from api_keys
       where merchant_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
       for update
     ), ended as (
       update api_keys set expires_at = least(expires_at, now() + $3 * interval '1 hour') from old where id = old_id
     )
     insert into api_keys
       (id, merchant_id, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at, name, created_by)
     select $4, owner, $5, $6, $7, old_networks, old_scopes, new_expiry, old_name, $8 from old
     returning ${KEY_COLUMNS}`,
    [
      merchantId,
      keyId,
      rotation.overlapHours,
      rotation.newKeyId,
      secretSha256,
      prefix,
      lastFour,
      actorText(rotation.createdBy),
    ],
  );
  const [row] = rows;
  if (!row) {
    const before = await findOwnKey(db, { merchantId, keyId: rotation.newKeyId }).catch(() => undefined);
    if (before) throw new ConflictError('key_exists', 'The key exists. Its secret is shown only once.');
    throw new ConflictError('not_allowed', `Key ${keyId} is revoked or expired: create a new one.`);
  }
  return { ...describeKey(row), secret };
}

/**
 * Permanent. A key that was revoked before keeps its timestamp.
 * @throws NotFoundError if the merchant has no such key
 */
export async function revokeOwnKey(db: Queryable, { merchantId, keyId }: OwnKey): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `update api_keys set revoked_at = coalesce(revoked_at, now()) where merchant_id = $1 and id = $2 returning id`,
    [merchantId, keyId],
  );
  requireRow(rows, 'key', keyId);
}
