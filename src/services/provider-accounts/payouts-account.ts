import { v7 as uuidv7 } from 'uuid';
import type { Environment } from '../../config';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { ConflictError } from '../../errors';
import { payoutAdapterOf } from '../../providers/adapters';
import { ACCOUNT_COLUMNS, validateBaseUrl, type ProviderAccount } from './provider-accounts';

/** Whether an account of ours at a bank executes payouts. */
export async function hasPayoutsAccount(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query("select from provider_accounts where purpose = 'payouts' and status = 'enabled'");
  return rowCount !== 0;
}

export interface NewPayoutsAccount {
  /** Absent: a new one. */
  readonly id?: string;
  readonly adapter: ProviderAccount['adapter'];
  readonly baseUrl: string;
  /** What the bank has issued, as a JSON document. It is stored sealed. */
  readonly credentials: string;
  readonly environment: Environment;
  /** Used for nothing until a second operator approves it. */
  readonly isProposed: boolean;
}

/**
 * Adds our account at the bank that executes payouts. At most one is enabled.
 * @throws UserError if the base URL or the credentials are not valid, or if production must not use the profile
 * @throws ConflictError `not_allowed` if another one is enabled
 */
export async function addPayoutsAccount(
  db: Queryable,
  sealer: Sealer,
  { adapter, environment, credentials, ...account }: NewPayoutsAccount,
): Promise<ProviderAccount> {
  const { id = uuidv7() } = account;
  const baseUrl = validateBaseUrl(account.baseUrl, environment);
  const entry = payoutAdapterOf({ id, adapter });
  const notificationKeys = entry.notificationKeysOf(credentials);
  const { unconfirmed } = entry.profile;
  if (environment === 'production' && unconfirmed.length > 0) {
    const text = `Production must not use ${adapter}. Its bank has not confirmed: ${unconfirmed.join(', ')}.`;
    throw new ConflictError('not_allowed', text);
  }
  const { rows } = await db.query<ProviderAccount>(
    `insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key, sealed_credentials, status,
       key_fingerprint)
     values ($1, 'payouts', $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${ACCOUNT_COLUMNS}`,
    [
      id,
      adapter,
      baseUrl,
      sealer.seal(notificationKeys, ['provider-server-key', id, adapter, baseUrl]),
      sealer.seal(credentials, ['provider-credentials', id, adapter, baseUrl]),
      account.isProposed ? 'proposed' : 'enabled',
      keyFingerprint(credentials),
    ],
  );
  if (rows[0]) return rows[0];
  throw new ConflictError('not_allowed', 'Another payouts account is enabled: disable it first.');
}
