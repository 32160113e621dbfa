import { NO_RATES, type FeeRates } from '../../domain/fee-terms';
import type { FeeRate } from '../../domain/fees';
import type { PaymentTerms } from '../../domain/payment';
import type { PaymentMethod, ProviderName } from '../../domain/provider-capabilities';
import { dayInWib } from '../../domain/wib';
import type { Queryable } from '../connection/pool';

type CapturedTerm = 'policyId' | 'settlementKind' | 'settlementDelaySeconds' | 'expiresInSeconds';

export type Policy = FeeRate & Pick<PaymentTerms, CapturedTerm>;

/** What a new payment captures: the newest policy of its provider and channel, its rate, and a provider account. */
export interface CurrentPolicy {
  readonly policy: Policy | null;
  readonly rates: FeeRates;
  /**
   * A random enabled one, by weight: of those of the merchant, if it has one of this provider, else of those that are
   * shared. No shared one serves a merchant whose own account is disabled: customers would see another name.
   */
  readonly providerAccountId: string | null;
}

interface PolicyQuery {
  readonly merchantId: string;
  readonly provider: ProviderName;
  readonly channel: PaymentMethod;
  /** The day in WIB decides which rates are in force. Absent: now. */
  readonly at?: Date;
}

/** The row that is in force on the day: the greatest day that has come, then the greatest version. */
const IN_FORCE = 'valid_from <= $4 order by valid_from desc, version desc limit 1';

export async function findCurrentPolicy(
  db: Queryable,
  { merchantId, provider, channel, at = new Date() }: PolicyQuery,
): Promise<CurrentPolicy> {
  const { rows } = await db.query<CurrentPolicy>({
    name: 'find_current_policy',
    text: `select
      (select json_build_object('policyId', id, 'feeBasisPoints', fee_basis_points, 'feeFlatRupiah', fee_flat_rupiah,
          'settlementKind', settlement_kind, 'settlementDelaySeconds', settlement_delay_seconds,
          'expiresInSeconds', expires_in_seconds)
        from policies where provider = $1 and channel = $2 order by version desc limit 1) as policy,
      json_build_object('class', own.class,
        'schedule', (select json_build_object('validFrom', valid_from, 'bands', bands)
          from fee_schedules where class = own.class and ${IN_FORCE}),
        'price', (select case when basis_points is not null then json_build_object('validFrom', valid_from,
            'basisPoints', basis_points, 'flatRupiah', flat_rupiah) end
          from merchant_prices where merchant_id = $3 and ${IN_FORCE}),
        'vatBasisPoints', coalesce((select (bands -> 0 ->> 'basisPoints')::integer
          from fee_schedules where class = 'VAT' and ${IN_FORCE}), 0)) as rates,
      (select id from ${accountsOf({ merchant: '$3', provider: '$1' })}
        order by -ln(1 - random()) / weight limit 1) as "providerAccountId"
      from (select (select case category when 'regular' then criterion else category end from merchant_identities
        where merchant_id = $3 and in_force_from is not null order by version desc limit 1) as class) own`,
    values: [provider, channel, merchantId, dayInWib(at)],
  });
  return rows[0] ?? { policy: null, rates: NO_RATES, providerAccountId: null };
}

/** The accounts that new payments of the merchant may use, as a `from` with its conditions. */
export function accountsOf({ merchant, provider }: { readonly merchant: string; readonly provider: string }): string {
  return `provider_accounts account where account.provider = ${provider} and account.status = 'enabled'
    and (account.merchant_id = ${merchant} or account.merchant_id is null and not exists (
      select from provider_accounts own
      where own.merchant_id = ${merchant} and own.provider = ${provider} and own.status <> 'proposed'))`;
}
