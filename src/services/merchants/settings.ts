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

/**
 * What a merchant changes itself. The addresses satisfy `returnUrlViolation` and `originViolation`; the contact has a
 * link.
 */
export type OwnSettings = Pick<Merchant, 'timeZone' | 'returnUrl' | 'checkoutOrigins' | 'contact'>;

/** The role of the dashboard may change these columns only. @throws NotFoundError if there is no such merchant */
export async function changeOwnSettings(
  db: Queryable,
  merchantId: string,
  { timeZone, returnUrl, checkoutOrigins, contact }: OwnSettings,
): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `update merchants set time_zone = $2, return_url = $3, checkout_origins = $4, contact = $5
     where id = $1 returning id`,
    [merchantId, timeZone, returnUrl, [...new Set(checkoutOrigins)], contact],
  );
  requireRow(rows, 'merchant', merchantId);
}

/** The terms that a new payment with this provider gets; null: there are none. */
export interface ProviderPolicy {
  readonly provider: ProviderName;
  readonly policy: Policy | null;
}

/** In the order of the providers. */
export function readPolicies(db: Queryable, providers: readonly ProviderName[]): Promise<ProviderPolicy[]> {
  return Promise.all(
    providers.map(async (provider) => ({ provider, policy: (await findCurrentPolicy(db, provider, 'qris')).policy })),
  );
}
