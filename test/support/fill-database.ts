import type { Pool } from '../../src/db/connection/pool';
import { bySize } from './size';
import { withoutIndexes } from './without-indexes';

/**
 * The number of final and of open payments. Six tables have more pages than a statement may read, so a statement that
 * reads all of one is found at the small size, too; refunds, late payments and exceptions have fewer.
 */
export const FINAL = bySize({ small: 500_000, full: 5_000_000 });
export const OPEN = 20_000;
/** Those of the busiest endpoint. Each delivery has a payment: with 300,000 others they are at most all payments. */
export const PENDING_DELIVERIES = bySize({ small: 200_000, full: 1_000_000 });
const NOTIFICATIONS = bySize({ small: 400_000, full: 1_000_000 });
const OPEN_NOTIFICATIONS = 2_000;

const MERCHANTS = 200;
/** The busy endpoint has most of the outbox. Most endpoints have only deliveries in retry workflows. */
const ENDPOINTS = { busy: 1, failing: 2, few: 100, retriesOnly: 2_000 } as const;

/** A row's id follows from its number, so tables refer to each other without a join. */
const PAYMENT_ID = "md5('payment' || n)::uuid";
const REFERENCE = "'LN' || upper(substr(md5('payment' || n), 1, 16))";
const ACCOUNT = '(select id from provider_accounts order by id limit 1) account';
const POLICY = '(select id from policies order by id limit 1) policy';
/** Operations parse the id of an endpoint, so it has the version and the variant of a UUID. */
const endpointIdOf = (number: string) =>
  `overlay(overlay(md5('endpoint' || ${number}) placing '4' from 13) placing '8' from 17)::uuid`;
const ENDPOINT_ID = endpointIdOf('e');

/** The larger database has every row of a settled payment. */
const IS_COMPLETE = bySize({ small: false, full: true });
/** The final payments from this number on have their second transition. */
const FIRST_ISSUED = IS_COMPLETE ? 1 : FINAL - 1_000;

export const BUSY_ENDPOINT = endpointIdOf('1');

const STATUS = `case
  when n > ${FINAL} then (array['created', 'pending', 'paid', 'refund_processing', 'refund_failed'])[
    case when n % 200 = 0 then 1 when n % 2 = 0 then 2 when n % 20 = 1 then 4 when n % 20 = 3 then 5 else 3 end]
  when n % 200000 = 0 then 'failed' when n % 50 = 1 then 'expired' when n % 50 = 3 then 'cancelled'
  when n % 50 = 7 then 'refunded' else 'settled' end`;

/** A final payment every 2.5 seconds until a day ago, open ones over the last day. */
const CREATED_AT = `now() - case when n > ${FINAL} then (${FINAL + OPEN} - n) * interval '4 seconds'
  else interval '1 day' + (${FINAL} - n) * interval '2.5 seconds' end`;

const STATEMENTS = [
  `insert into merchants (id, name, status) select md5('merchant' || n)::uuid, 'Toko ' || n, 'approved'
   from generate_series(1, ${MERCHANTS}) n`,
  `insert into payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
     amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
     settlement_delay_seconds, status, version, expires_at, created_at, updated_at, paid_at, settlement_due_at,
     qris_payload, provider_transaction_id)
   select ${PAYMENT_ID}, ${REFERENCE}, md5('merchant' || 1 + n % ${MERCHANTS})::uuid, 'v1.f', 'qris', 'gopay',
     account.id,
     50000, 350, 50000, 49650, 'merchant', policy.id, 'automatic', 86400, ${STATUS}, 4, at + interval '2 days', at,
     at + interval '1 hour', at, at + interval '2 days', repeat('0', 200), 'transaction-' || n
   from (select n, ${CREATED_AT} as at from generate_series(1, ${FINAL + OPEN}) n) numbered,
     ${ACCOUNT}, ${POLICY}`,
  `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
   select ${PAYMENT_ID}, 1, 'create', null, 'created', at, 'workflow', at
   from (select n, ${CREATED_AT} as at from generate_series(1, ${FINAL + OPEN}) n) numbered`,
  // The response to a creation has the data of the second transition.
  `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
   select ${PAYMENT_ID}, 2, 'issue', 'created', 'pending', at, 'workflow', at
   from (select n, ${CREATED_AT} as at from generate_series(${FIRST_ISSUED}, ${FINAL}) n) numbered`,
  // Refunds that were rejected once and then confirmed or resolved, and refunds of open payments.
  `insert into refunds (payment_id, number, refund_key, amount_rupiah, status, requested_at, submit_at, submitted_at,
     finished_at, provider_reference, failure_reason)
   select ${PAYMENT_ID}, 1, ${REFERENCE} || '-R1', 50000, 'rejected', at, at, at, at, null, 'no'
   from generate_series(1, ${FINAL}) n, (select now() - interval '9 days' as at) nine_days_ago
   where n % 50 in (7, 9)`,
  `insert into refunds (payment_id, number, refund_key, amount_rupiah, status, requested_at, submit_at, submitted_at,
     finished_at, provider_reference, failure_reason)
   select id, 2, reference_id || '-R2', 50000,
     case status when 'refunded' then 'confirmed' when 'refund_failed' then 'rejected' else 'submitted' end,
     updated_at, updated_at, updated_at, case status when 'refund_processing' then null else updated_at end, 'r', 'no'
   from payments where status in ('refunded', 'refund_failed', 'refund_processing')`,
  `insert into late_payments (payment_id, merchant_id, total_rupiah, provider_transaction_id, paid_at, status,
     received_at, submitted_at, finished_at, refund_key)
   select id, merchant_id, 50000, 'late', updated_at, case when is_open then 'submitted' else 'refunded' end,
     updated_at, updated_at, case when is_open then null else updated_at end, reference_id || '-LATE'
   from (select *, hashtext(id::text) % 40 = 0 as is_open from payments where status = 'expired') expired`,
  `insert into provider_notifications (provider_account_id, reference_id, body_sha256, body, received_at, closed_at,
     next_notify_at)
   select account.id, ${REFERENCE}, sha256(n::text::bytea), '{}', now() - interval '1 hour',
     case when n % ${NOTIFICATIONS / OPEN_NOTIFICATIONS} > 0 then now() end, now() - n % 1000 * interval '1 second'
   from generate_series(${FINAL + OPEN - NOTIFICATIONS + 1}, ${FINAL + OPEN}) n, ${ACCOUNT}`,
  `insert into exceptions (kind, reference_id, payment_id, detail, opened_at, resolved_at, resolved_by)
   select 'reconciliation', ${REFERENCE}, ${PAYMENT_ID}, 'overdue', now() - n * interval '20 seconds',
     case when n % 100 > 0 then now() end, case when n % 100 > 0 then 'cli:root' end
   from generate_series(1, 200000) n`,
  `insert into webhook_endpoints (id, merchant_id, url, consecutive_failures, failing_since, next_probe_at)
   select ${ENDPOINT_ID}, md5('merchant' || 1 + e % ${MERCHANTS})::uuid, 'http://127.0.0.1:9',
     case e when ${ENDPOINTS.failing} then 30 else 0 end, case e when ${ENDPOINTS.failing} then now() end,
     case e when ${ENDPOINTS.failing} then now() end
   from generate_series(1, ${ENDPOINTS.failing + ENDPOINTS.few + ENDPOINTS.retriesOnly}) e`,
  `insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
   select ${PAYMENT_ID}, 1, 'payment.created', '{}', now() from generate_series(1, ${PENDING_DELIVERIES} + 300000) n`,
  // The busy endpoint's, the failing one's, delivered ones, and those of retry workflows and of small endpoints.
  `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
     finished_at, retry_workflow_started_at, created_at, queued_at)
   select md5('delivery' || n)::uuid, ${PAYMENT_ID}, 1, ${ENDPOINT_ID}, md5('merchant' || 1 + e % ${MERCHANTS})::uuid,
     'payment.created',
     case when n > ${PENDING_DELIVERIES} + 200000 then 'delivered' else 'pending' end,
     case when n > ${PENDING_DELIVERIES} + 200000 then now() end,
     case when n > ${PENDING_DELIVERIES} + 101000 then now() - interval '1 hour' end,
     now() - interval '1 hour' + n * interval '1 millisecond', now() - interval '1 hour' + n * interval '1 millisecond'
   from (
     select n, case when n <= ${PENDING_DELIVERIES} then ${ENDPOINTS.busy}
       when n <= ${PENDING_DELIVERIES} + 100000 then ${ENDPOINTS.failing}
       when n <= ${PENDING_DELIVERIES} + 101000 then ${ENDPOINTS.failing} + 1 + n % ${ENDPOINTS.few}
       else ${ENDPOINTS.failing + ENDPOINTS.few} + 1 + n % ${ENDPOINTS.retriesOnly} end as e
     from generate_series(1, ${PENDING_DELIVERIES} + 300000) n
   ) numbered`,
] as const;

const DETAILS = `insert into payment_details (payment_id, fingerprint, sealed, created_at)
  select id, fingerprint, $1 || repeat('s', 20), created_at from payments`;

const ROWS_OF_SETTLED_PAYMENTS = [
  `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
   select id, step.version, name, from_status, to_status, created_at, 'workflow', created_at
   from payments, (values (3, 'pay', 'pending', 'paid'), (4, 'settle', 'paid', 'settled'))
     step (version, name, from_status, to_status)
   where status = 'settled'`,
  `insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
   select id, step.version, merchant_id, created_at from payments, generate_series(3, 4) step (version)
   where status = 'settled'`,
  `insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
   select id, line.number, account, side, amount from ledger_postings posting join (values
     (3, 1, 'provider_receivable', 'debit', 50000), (3, 2, 'merchant_pending', 'credit', 49650),
     (3, 3, 'fee_revenue', 'credit', 350),
     (4, 1, 'merchant_pending', 'debit', 49650), (4, 2, 'merchant_available', 'credit', 49650)
   ) line (version, number, account, side, amount) on line.version = posting.payment_version`,
  `insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code)
   select id, 1, created_at, 20, 200 from webhook_deliveries where status = 'delivered'`,
] as const;

const FILLED = [
  'payments',
  'payment_transitions',
  'refunds',
  'late_payments',
  'provider_notifications',
  'exceptions',
  'webhook_events',
  'webhook_deliveries',
  'payment_details',
  ...(IS_COMPLETE ? ['ledger_postings', 'ledger_entries', 'webhook_attempts'] : []),
];

/**
 * Fills a database like an installation that has had a payment every 2.5 seconds.
 * @param sealedPrefix of the sealed values
 */
export async function fillDatabase(db: Pool, sealedPrefix: string): Promise<void> {
  await withoutIndexes(db, FILLED, async (client) => {
    for (const statement of STATEMENTS) await client.query(statement);
    await client.query(DETAILS, [sealedPrefix]);
    if (IS_COMPLETE) for (const statement of ROWS_OF_SETTLED_PAYMENTS) await client.query(statement);
  });
}
