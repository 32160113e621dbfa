import { v7 as uuidv7 } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import type { FeeRate } from '../../domain/fees';
import type { SettlementKind } from '../../domain/payment';
import type { PaymentMethod, ProviderName } from '../../domain/provider-capabilities';

/** Fees and settlement of a provider and channel. A payment captures the version in force at its creation. */
export interface PolicyVersion extends PolicyTerms {
  readonly id: string;
  readonly provider: ProviderName;
  readonly channel: PaymentMethod;
  readonly version: number;
  readonly createdAt: Date;
}

export interface PolicyTerms extends FeeRate {
  readonly settlementKind: SettlementKind;
  readonly settlementDelaySeconds: number;
  readonly expiresInSeconds: number;
}

/** Absent terms are copied from the previous version. */
export type PolicyChange = Pick<PolicyVersion, 'provider' | 'channel'> & {
  readonly [Term in keyof PolicyTerms]?: PolicyTerms[Term] | undefined;
};

/** The terms that a first version starts from: Bank Indonesia's MDR of 0.7 %, settled after one day. */
const INITIAL_TERMS = {
  feeBasisPoints: 70,
  feeFlatRupiah: 0,
  settlementKind: 'automatic',
  settlementDelaySeconds: 86_400,
  expiresInSeconds: 900,
} as const satisfies PolicyTerms;

const POLICY_COLUMNS = `id, provider, channel, version, fee_basis_points as "feeBasisPoints",
  fee_flat_rupiah as "feeFlatRupiah", settlement_kind as "settlementKind",
  settlement_delay_seconds as "settlementDelaySeconds", expires_in_seconds as "expiresInSeconds",
  created_at as "createdAt"`;

/** Why a request that two operators have agreed on replaces no policy: it is no longer in force. */
export const NEWER_POLICY =
  'There is a newer policy than the one that this request would have replaced: request it again.';

/** Writes the next version of the policy; new payments capture it. Two concurrent changes both take effect. */
export async function setPolicy(db: Queryable, change: PolicyChange): Promise<PolicyVersion> {
  for (;;) {
    const policy = await writePolicy(db, change, null);
    // There is no row if a concurrent change has written that version.
    if (policy) return policy;
  }
}

/**
 * Writes the next version of the policy if the version in force is the expected one.
 * @param expectedVersion 0: there is none
 * @returns null if there is a newer version
 */
export async function replacePolicy(
  db: Queryable,
  change: PolicyChange,
  expectedVersion: number,
): Promise<PolicyVersion | null> {
  return (await writePolicy(db, change, expectedVersion)) ?? null;
}

/** The version in force of the policy; 0: there is none. */
export async function findPolicyVersion(
  db: Queryable,
  { provider, channel }: Pick<PolicyVersion, 'provider' | 'channel'>,
): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    'select coalesce(max(version), 0) as version from policies where provider = $1 and channel = $2',
    [provider, channel],
  );
  return onlyRow(rows).version;
}

async function writePolicy(
  db: Queryable,
  change: PolicyChange,
  expectedVersion: number | null,
): Promise<PolicyVersion | undefined> {
  const { rows } = await db.query<PolicyVersion>(
    `with before as (
         select * from policies where provider = $2 and channel = $3 order by version desc limit 1
       )
       insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
         settlement_delay_seconds, expires_in_seconds)
       select $1, $2, $3, coalesce(before.version, 0) + 1,
         coalesce($4, before.fee_basis_points, ${INITIAL_TERMS.feeBasisPoints}),
         coalesce($5, before.fee_flat_rupiah, ${INITIAL_TERMS.feeFlatRupiah}),
         coalesce($6, before.settlement_kind, '${INITIAL_TERMS.settlementKind}'),
         coalesce($7, before.settlement_delay_seconds, ${INITIAL_TERMS.settlementDelaySeconds}),
         coalesce($8, before.expires_in_seconds, ${INITIAL_TERMS.expiresInSeconds})
       from (select) one left join before on true
       where $9::bigint is null or coalesce(before.version, 0) = $9
       on conflict (provider, channel, version) do nothing
       returning ${POLICY_COLUMNS}`,
    [
      uuidv7(),
      change.provider,
      change.channel,
      change.feeBasisPoints,
      change.feeFlatRupiah,
      change.settlementKind,
      change.settlementDelaySeconds,
      change.expiresInSeconds,
      expectedVersion,
    ],
  );
  return rows[0];
}

/** The version in force of each policy. */
export async function listPolicies(db: Queryable): Promise<PolicyVersion[]> {
  const { rows } = await db.query<PolicyVersion>(
    `select distinct on (provider, channel) ${POLICY_COLUMNS} from policies order by provider, channel, version desc`,
  );
  return rows;
}
