import type { FeeRate } from '../../domain/fees';
import type { PaymentTerms } from '../../domain/payment';
import type { PaymentMethod, ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';

type CapturedTerm = 'policyId' | 'settlementKind' | 'settlementDelaySeconds' | 'expiresInSeconds';

export type Policy = FeeRate & Pick<PaymentTerms, CapturedTerm>;

/** What a new payment captures: the newest policy of its provider and channel, and a provider account. */
export interface CurrentPolicy {
  readonly policy: Policy | null;
  /** A random enabled one, by weight. */
  readonly providerAccountId: string | null;
}

export async function findCurrentPolicy(
  db: Queryable,
  provider: ProviderName,
  channel: PaymentMethod,
): Promise<CurrentPolicy> {
  const { rows } = await db.query<CurrentPolicy>({
    name: 'find_current_policy',
    text: `select
      (select json_build_object('policyId', id, 'feeBasisPoints', fee_basis_points, 'feeFlatRupiah', fee_flat_rupiah,
          'settlementKind', settlement_kind, 'settlementDelaySeconds', settlement_delay_seconds,
          'expiresInSeconds', expires_in_seconds)
        from policies where provider = $1 and channel = $2 order by version desc limit 1) as policy,
      (select id from provider_accounts where provider = $1 and status = 'enabled'
        order by -ln(1 - random()) / weight limit 1) as "providerAccountId"`,
    values: [provider, channel],
  });
  return rows[0] ?? { policy: null, providerAccountId: null };
}
