import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { findCurrentPolicy, type Policy } from '../../db/operations/find-current-policy';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Merchant } from './merchants';

/** What a merchant sees of its own row. */
export type MerchantSettings = Pick<Merchant, 'feePayer' | 'providers' | 'returnUrl' | 'checkoutOrigins' | 'contact'>;

/** @throws NotFoundError if there is no such merchant */
export async function readSettings(db: Queryable, merchantId: string): Promise<MerchantSettings> {
  const { rows } = await db.query<MerchantSettings>(
    `select fee_payer as "feePayer", providers, return_url as "returnUrl", checkout_origins as "checkoutOrigins",
       contact from merchants where id = $1`,
    [merchantId],
  );
  return requireRow(rows, 'merchant', merchantId);
}

/** The terms that a new payment with this provider gets; null: there are none. */
export interface ProviderPolicy {
  readonly provider: ProviderName;
  readonly policy: Policy | null;
}

/** In the order of the providers. */
export function readPolicies(
  db: Queryable,
  merchantId: string,
  providers: readonly ProviderName[],
): Promise<ProviderPolicy[]> {
  return Promise.all(
    providers.map(async (provider) => {
      const { policy } = await findCurrentPolicy(db, { merchantId, provider, channel: 'qris' });
      return { provider, policy };
    }),
  );
}
