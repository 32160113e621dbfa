import type { MerchantScope } from '../../domain/key-access';
import type { Queryable } from '../connection/pool';
import type { CreatingMerchantRow } from './find-creating-merchant';

/** A key that is neither revoked nor expired, whether the caller's address may use it, and its merchant. */
export interface ApiKeyRow extends CreatingMerchantRow {
  readonly keyId: string;
  readonly addressAllowed: boolean;
  /** Null: every scope. */
  readonly scopes: readonly MerchantScope[] | null;
  readonly merchantStatus: 'pending' | 'approved' | 'suspended';
}

/** @param address the caller's IP address, mapped IPv6 already unwrapped */
export async function findApiKey(db: Queryable, secretSha256: Buffer, address: string): Promise<ApiKeyRow | undefined> {
  const { rows } = await db.query<ApiKeyRow>({
    name: 'find_api_key',
    text: `select api_keys.id as "keyId",
        (api_keys.allowed_networks = '{}' or $2::inet <<= any (api_keys.allowed_networks)) as "addressAllowed",
        api_keys.scopes, merchants.id as "merchantId", merchants.status as "merchantStatus",
        merchants.fee_payer as "feePayer", merchants.providers,
        merchants.payment_method_active as "paymentMethodActive", merchants.return_url as "returnUrl",
        merchants.checkout_origins as "checkoutOrigins",
        (select cell from installation) as cell
      from api_keys join merchants on merchants.id = api_keys.merchant_id
      where api_keys.secret_sha256 = $1 and api_keys.revoked_at is null
        and (api_keys.expires_at is null or api_keys.expires_at > now())`,
    values: [secretSha256, address],
  });
  return rows[0];
}

/**
 * Records the use of a key, at most once a minute over all processes.
 * @param address the caller's IP address
 */
export async function recordKeyUse(db: Queryable, keyId: string, address: string): Promise<void> {
  await db.query({
    name: 'record_key_use',
    text: `update api_keys set last_used_at = now(), last_used_from = $2
      where id = $1 and (last_used_at is null or last_used_at <= now() - interval '1 minute')`,
    values: [keyId, address],
  });
}
