import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { accountsOf, findCurrentPolicy, type CurrentPolicy } from '../../db/operations/find-current-policy';
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

/** The name in the customer's app, for a provider of the merchant. */
export interface ShownName {
  readonly provider: ProviderName;
  /** Several if shared accounts have other names; empty if no account is enabled, or no name is known. */
  readonly names: readonly string[];
}

/** In the order of the providers. */
export async function readShownNames(
  db: Queryable,
  merchantId: string,
  providers: readonly ProviderName[],
): Promise<ShownName[]> {
  const { rows } = await db.query<ShownName>(
    `select provider, array(
       select distinct account.shown_name from ${accountsOf({ merchant: '$1', provider: 'wanted.provider' })}
         and account.shown_name is not null order by account.shown_name
     ) as names
     from unnest($2::text[]) with ordinality wanted (provider, position) order by position`,
    [merchantId, providers],
  );
  return rows;
}

/** The terms that a new payment with this provider gets; null: there are none. */
export interface ProviderPolicy extends Pick<CurrentPolicy, 'policy' | 'rates'> {
  readonly provider: ProviderName;
}

/** In the order of the providers. */
export function readPolicies(
  db: Queryable,
  merchantId: string,
  providers: readonly ProviderName[],
): Promise<ProviderPolicy[]> {
  return Promise.all(
    providers.map(async (provider) => {
      const { policy, rates } = await findCurrentPolicy(db, { merchantId, provider, channel: 'qris' });
      return { provider, policy, rates };
    }),
  );
}
