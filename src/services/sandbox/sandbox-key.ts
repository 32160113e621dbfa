import { hkdfSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { createSecretKey } from '../../crypto/secret-key';
import { findCell } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';

interface SandboxKey {
  readonly merchantId: string;
  /** A new key has it, and a merchant sees it in the list of keys. */
  readonly name: string;
}

/**
 * The key with which Lunas itself calls the API for a merchant of the sandbox, the same at every call. It is derived
 * from the master key, because the database stores only its hash. After a key that was revoked or has expired, the next
 * number gives a new one.
 */
export async function ensureSandboxKey(
  db: Queryable,
  masterKey: string,
  { merchantId, name }: SandboxKey,
): Promise<string> {
  const cell = await findCell(db);
  for (let number = 1; ; number += 1) {
    const bits = deriveKeyBits(masterKey, `lunas demo key ${merchantId} ${number}`);
    const { secret, secretSha256, prefix, lastFour } = createSecretKey('sandbox', cell, bits);
    await db.query(
      `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four, name)
       select $1, id, $3, $4, $5, $6 from merchants where id = $2
       on conflict (secret_sha256) do nothing`,
      [uuidv7(), merchantId, secretSha256, prefix, lastFour, name],
    );
    const { rows } = await db.query<{ isActive: boolean }>(
      `select revoked_at is null and (expires_at is null or expires_at > now()) as "isActive"
       from api_keys where secret_sha256 = $1`,
      [secretSha256],
    );
    if (requireRow(rows, 'merchant', merchantId).isActive) return secret;
  }
}

function deriveKeyBits(masterKey: string, label: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(masterKey, 'base64'), '', label, 24));
}
