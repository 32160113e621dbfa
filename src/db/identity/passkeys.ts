import type { Realm } from '../../domain/sign-in';
import type { Queryable } from '../connection/pool';

/** A passkey as its user sees it in the list. */
export interface ListedPasskey {
  readonly id: string;
  readonly name: string;
  /** The credential id in base64url. */
  readonly credentialId: string;
  readonly transports: readonly string[];
  /** The provider of the passkey keeps a copy, so that it outlives the device. */
  readonly isBackedUp: boolean;
  readonly createdAt: Date;
  /** Null: never. */
  readonly lastUsedAt: Date | null;
}

/** A passkey as a signature is verified with it. */
export interface StoredPasskey {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly credentialId: string;
  readonly publicKey: Buffer;
  /** How often the authenticator has signed; always 0 if it does not count. */
  readonly counter: number;
}

interface PasskeyQuery {
  readonly realm: Realm;
  /** The host of the pages. */
  readonly rpId: string;
  readonly credentialId: string;
}

/** Undefined if there is none at this host and realm, or its user is disabled. */
export async function findPasskey(db: Queryable, query: PasskeyQuery): Promise<StoredPasskey | undefined> {
  const { rows } = await db.query<StoredPasskey>(
    `select passkey.id, passkey.user_id as "userId", person.email, passkey.credential_id as "credentialId",
       passkey.public_key as "publicKey", passkey.counter::float8 as counter
     from passkeys passkey
     join users person on person.id = passkey.user_id and person.realm = passkey.realm and person.disabled_at is null
     where passkey.credential_id = $3 and passkey.realm = $1 and passkey.rp_id = $2`,
    [query.realm, query.rpId, query.credentialId],
  );
  return rows[0];
}

/** The passkeys of a user, the oldest first. */
export async function listPasskeyRows(db: Queryable, userId: string): Promise<ListedPasskey[]> {
  const { rows } = await db.query<ListedPasskey>(
    `select id, name, credential_id as "credentialId", transports, is_backed_up as "isBackedUp",
       created_at as "createdAt", last_used_at as "lastUsedAt"
     from passkeys where user_id = $1 order by created_at, id`,
    [userId],
  );
  return rows;
}

interface NewPasskey extends Omit<ListedPasskey, 'lastUsedAt'>, Omit<StoredPasskey, 'publicKey' | 'email'> {
  readonly realm: Realm;
  readonly rpId: string;
  readonly publicKey: Uint8Array;
}

/** @returns false if the credential is known already, of whatever user */
export async function insertPasskey(db: Queryable, passkey: NewPasskey): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into passkeys (id, user_id, realm, credential_id, public_key, counter, transports, rp_id, name,
       is_backed_up, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing`,
    [
      passkey.id,
      passkey.userId,
      passkey.realm,
      passkey.credentialId,
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
      passkey.rpId,
      passkey.name,
      passkey.isBackedUp,
      passkey.createdAt,
    ],
  );
  return rowCount === 1;
}

interface PasskeyUse {
  readonly id: string;
  readonly counter: number;
  readonly isBackedUp: boolean;
  readonly now: Date;
}

/**
 * Records that a passkey has signed.
 * @returns false if it was removed, or its counter has not grown: a copy of it may have signed. Zero on both sides
 * means that the authenticator does not count (WebAuthn level 3, section 6.1.1)
 */
export async function recordPasskeyUse(db: Queryable, use: PasskeyUse): Promise<boolean> {
  const { rowCount } = await db.query(
    `update passkeys set counter = $2, is_backed_up = $3, last_used_at = $4
     where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
    [use.id, use.counter, use.isBackedUp, use.now],
  );
  return rowCount === 1;
}

interface OwnPasskey {
  readonly userId: string;
  readonly id: string;
}

/** @returns false if the user has no such passkey */
export async function renamePasskeyRow(db: Queryable, { userId, id }: OwnPasskey, name: string): Promise<boolean> {
  const { rowCount } = await db.query('update passkeys set name = $3 where id = $2 and user_id = $1', [
    userId,
    id,
    name,
  ]);
  return rowCount === 1;
}

/** @returns false if the user has no such passkey */
export async function deletePasskeyRow(db: Queryable, { userId, id }: OwnPasskey): Promise<boolean> {
  const { rowCount } = await db.query('delete from passkeys where id = $2 and user_id = $1', [userId, id]);
  return rowCount === 1;
}

/** The hosts to which the stored passkeys belong; undefined if the database role may not read them. */
export async function listPasskeyHosts(db: Queryable): Promise<string[] | undefined> {
  const { rows: rights } = await db.query<{ mayRead: boolean }>(
    `select has_column_privilege('passkeys', 'rp_id', 'select') as "mayRead"`,
  );
  if (!rights[0]?.mayRead) return undefined;
  const { rows } = await db.query<{ host: string }>(
    "select distinct rp_id as host from passkeys where realm = 'merchant' order by host",
  );
  return rows.map(({ host }) => host);
}
