import { randomUUID } from 'node:crypto';
import type { Pool } from '../../src/db/connection/pool';

export interface SeedOptions {
  readonly count: number;
  /** The timestamp of the first payment; three payments follow in each second. */
  readonly from: string;
  /** Every n-th payment has `shopeepay`, or a status other than `settled`. */
  readonly rareOneIn: number;
  /** How many payments share a merchant_reference_id; every fourth payment has none. */
  readonly sameReference: number;
}

/** Inserts payments by one statement, for tests of lists, which only read. */
export async function seedPayments(db: Pool, merchantId: string, options: SeedOptions): Promise<void> {
  const [policyId, accountId] = await insertCatalog(db);
  await db.query(
    `insert into payments (id, reference_id, merchant_id, merchant_reference_id, fingerprint, payment_method, provider,
       provider_account_id, amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
       settlement_delay_seconds, status, version, expires_at, created_at, updated_at, qris_payload)
     select id, 'LN' || upper(substr(replace(id::text, '-', ''), 1, 16)), $1,
       case when n % 4 > 0 then 'ORDER-' || n / $7::integer end, 'f', 'qris',
       case when n % $6::integer = 1 then 'shopeepay' else 'gopay' end,
       $3, 50000, 350, 50000, 49650, 'merchant', $2, 'automatic', 86400, status, 2, created_at + interval '15 minutes',
       created_at, created_at, case when status not in ('created', 'failed') then repeat('0', 200) end
     from (select n, gen_random_uuid() as id, $5::timestamptz + n / 3 * interval '1 second' as created_at,
         case when n % $6::integer = 2 then (array['created', 'pending', 'paid', 'expired', 'failed', 'cancelled',
           'refund_processing', 'refund_failed', 'refunded'])[1 + (n / $6::integer) % 9] else 'settled' end as status
       from generate_series(0, $4::integer - 1) n) numbered`,
    [merchantId, policyId, accountId, options.count, options.from, options.rareOneIn, options.sameReference],
  );
}

/** Makes the totals of a merchant those of its payments: seeded ones have no transitions. */
export async function fillTotals(db: Pool, merchantId: string): Promise<void> {
  await db.query(
    `with progress as (
       update totals_progress set counted_at = now(),
         transition_number = greatest(transition_number, (select max(number) from payment_transitions))
     )
     insert into payment_hour_totals
     select merchant_id, status, date_trunc('hour', created_at, 'UTC'), provider, count(*), sum(total_rupiah),
       sum(net_rupiah)
     from payments where merchant_id = $1 group by 1, 2, 3, 4
     on conflict (merchant_id, status, hour, provider) do update set payments = excluded.payments,
       total_rupiah = excluded.total_rupiah, net_rupiah = excluded.net_rupiah`,
    [merchantId],
  );
}

/** Each payment refers to a policy and a provider account. @returns the ids of new ones */
export async function insertCatalog(db: Pool): Promise<[policyId: string, accountId: string]> {
  const { rows } = await db.query<{ policyId: string; accountId: string }>(
    `with policy as (
       insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
         settlement_delay_seconds, expires_in_seconds)
       select $1, 'gopay', 'qris', count(*) + 1, 70, 0, 'automatic', 86400, 900 from policies returning id
     ), account as (
       insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key)
       values ($2, 'gopay', 'midtrans', 'http://127.0.0.1:9', 'none') returning id
     )
     select policy.id as "policyId", account.id as "accountId" from policy, account`,
    [randomUUID(), randomUUID()],
  );
  return [rows[0]?.policyId ?? '', rows[0]?.accountId ?? ''];
}
