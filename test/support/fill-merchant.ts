import type { Pool } from '../../src/db/connection/pool';
import { findFirstDay } from '../../src/db/ledger/balance-days';
import { PAYMENT_STATUSES } from '../../src/domain/payment-transitions';
import { listMembers } from '../../src/services/identity/members';
import type { FilledMerchant } from './dashboard-pages';
import { inviteAt, resetAt } from './team';
import { withoutIndexes } from './without-indexes';

/** The newest payments have every row that a page of one reads. */
const COMPLETE = 2_000;
const OPEN = 200;
/** The payments of a day, which are paid and not settled yet. */
const DAY = 34_560;
/** The lines that the next payout pays. A payout of each day has paid the others. */
const UNCLAIMED = 1_000;
const PAYOUTS = 400;
/** More than a page has. */
const INVOICES = 60;
const TABLES = [
  'payouts',
  'balance_transactions',
  'payments',
  'payment_transitions',
  'webhook_events',
  'webhook_deliveries',
  'webhook_attempts',
  'api_requests',
  'user_actions',
  'user_action_outcomes',
  'merchant_operator_actions',
  'payment_links',
  'payment_link_payments',
  'fee_invoices',
];

/** A row's id follows from its number. The newest payment has number 1. */
const PAYMENT_ID = "overlay(overlay(md5('payment' || n) placing '4' from 13) placing 'a' from 17)::uuid";
/** A valid UUID, as paths have it. */
const idOf = (number: string) => `('0193e5c0-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;
const AT = "now() - n * interval '2.5 seconds'";

const STATUS = `case
  when n <= ${OPEN} then (array['pending', 'paid', 'refund_processing', 'refund_failed'])[1 + n % 4]
  when n % 997 = 0 then 'failed' when n % 50 = 1 then 'expired' when n % 50 = 3 then 'cancelled'
  when n % 50 = 7 then 'refunded' when n <= ${DAY} then 'paid' else 'settled' end`;

const PAYMENTS = `
  insert into payments (id, reference_id, merchant_id, merchant_reference_id, fingerprint, payment_method, provider,
    provider_account_id, amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
    settlement_delay_seconds, status, version, expires_at, created_at, updated_at, paid_at, settlement_due_at,
    qris_payload, provider_transaction_id)
  select ${PAYMENT_ID}, 'LN' || upper(substr(md5('payment' || n), 1, 16)), $1, 'ORDER-' || n, 'v1.f', 'qris', 'gopay',
    $2, 50000, 350, 50000, 49650, 'merchant', $3, 'automatic', 86400, ${STATUS}, 4, at + interval '2 days', at,
    at + interval '1 hour', at, at + interval '2 days', repeat('0', 200), 'transaction-' || n
  from (select n, ${AT} as at from generate_series($4::integer, $5::integer) n) numbered`;

const LINES = `
  insert into balance_transactions
    (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on, payout_id)
  select 10000000 - n, $1, 'settlement', 49650, ${PAYMENT_ID}, at, (at at time zone 'Asia/Jakarta')::date,
    case when n > ${DAY + UNCLAIMED} then ${idOf('n / ' + DAY)} end
  from (select n, ${AT} + interval '1 day' as at from generate_series($2::integer, $3::integer) n) numbered
  where ${STATUS} = 'settled'`;

/** A filter of events searches the newest ones: some are rare. */
const EVENT = "case when n % 1000 = 0 then 'payment.refunded' else 'payment.paid' end";
const EVENTS = `
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select ${PAYMENT_ID}, 3, ${EVENT}, '{"reference_id":"LN' || n || '"}', ${AT}
  from generate_series($1::integer, $2::integer) n`;

/** A plan has to take the number of all transitions into account: each payment has one. */
const TRANSITIONS = `
  insert into payment_transitions (payment_id, version, name, to_status, occurred_at, actor, recorded_at)
  select ${PAYMENT_ID}, 1, 'create', 'created', ${AT}, 'workflow', ${AT}
  from generate_series($1::integer, $2::integer) n`;

const IS_DEAD = `n <= ${COMPLETE} and n % 40 = 0`;
const DELIVERIES = `
  insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
    dead_reason, finished_at, created_at, queued_at)
  select ${idOf('n')}, ${PAYMENT_ID}, 3, ${idOf('1 + n % 3')}, $1, ${EVENT},
    case when ${IS_DEAD} then 'dead' else 'delivered' end, case when ${IS_DEAD} then 'attempts_exhausted' end, ${AT},
    ${AT}, ${AT}
  from generate_series($2::integer, $3::integer) n`;

/** One has the newest payments, and each other one ten of the rest. */
const LINKS = `
  insert into payment_links (id, reference_id, merchant_id, provider, kind, amount_rupiah, title, fingerprint,
    created_at, created_by)
  select ${idOf('n')}, 'LK' || lpad(n::text, 16, '0'), $1, 'gopay', 'reusable', 50000, 'Invoice ' || n, 'v1.f',
    now() - n * interval '25 seconds', 'cli:test'
  from generate_series($2::integer, $3::integer) n`;
const LINK_PAYMENTS = `
  insert into payment_link_payments (link_id, number, payment_id, created_at)
  select case when n <= ${COMPLETE} then ${idOf('1')} else ${idOf('1 + n / 10')} end,
    case when n <= ${COMPLETE} then n else 1 + n % 10 end, ${PAYMENT_ID}, ${AT}
  from generate_series($1::integer, $2::integer) n`;

const INVOICE_ROWS = `
  insert into fee_invoices (id, number, sequence, merchant_id, kind, month, part, from_posting_id, up_to_posting_id,
    fee_rupiah, vat_rupiah, lines, sealed_parties)
  select ${idOf('n')}, 'FI-2026-' || lpad(n::text, 6, '0'), n, $1, 'invoice',
    date '2020-01-01' + n * interval '1 month', 1, n - 1, n, 350, 34,
    jsonb_build_array(jsonb_build_object('kind', 'payment', 'class', 'UKE', 'basisPoints', 70, 'flatRupiah', 0,
      'count', 1, 'turnoverRupiah', 50000, 'feeRupiah', 350, 'vatRupiah', 34)), ''
  from generate_series(1, ${INVOICES}) n`;

/** Every day before today is closed, and the lines of today are counted. Sums begin anew with each older payment. */
const CLOSED_DAYS = [
  'delete from balance_days',
  `insert into closed_days (day) select distinct booked_on from balance_transactions
   where booked_on < (now() at time zone 'Asia/Jakarta')::date on conflict do nothing`,
  'insert into ended_days (day) select max(day) from closed_days having max(day) is not null on conflict do nothing',
  `insert into balance_days (merchant_id, day, closing_rupiah, credit_rupiah, debit_rupiah, line_count)
   select merchant_id, booked_on, sum(sum(amount_rupiah)) over (order by booked_on), sum(amount_rupiah), 0, count(*)
   from balance_transactions join closed_days on day = booked_on group by merchant_id, booked_on`,
  'delete from open_balance_days',
  `insert into open_balance_days (merchant_id, day, credit_rupiah, debit_rupiah, line_count)
   select merchant_id, booked_on, sum(amount_rupiah), 0, count(*)
   from balance_transactions where booked_on > (select max(day) from closed_days) group by merchant_id, booked_on`,
  'update totals_progress set line_posting_id = coalesce((select max(posting_id) from balance_transactions), 0)',
] as const;

const ROWS_OF_NEWEST = [
  INVOICE_ROWS,
  `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
   select ${PAYMENT_ID}, step.version, name, from_status, to_status, ${AT}, 'workflow', ${AT}
   from generate_series(1, ${COMPLETE}) n, (values (2, 'issue', 'created', 'pending'), (3, 'pay', 'pending', 'paid'))
     step (version, name, from_status, to_status)`,
  `insert into bank_accounts
     (id, merchant_id, bank_code, number_hmac, last_four, status, version, proposed_by, created_at, updated_at)
   values (${idOf('1')}, $1, '014', 'x', '7890', 'pending_inquiry', 1, 'cli:test', now(), now())`,
  `update bank_accounts set status = 'pending_approval', version = 2`,
  `insert into proposed_payout_settings (id, merchant_id, schedule, minimum_rupiah, proposed_by, proposed_at)
   values (${idOf('1')}, $1, 'daily', 50000, 'user:' || ${idOf('1')}, now())`,
  `insert into payouts (id, reference_id, merchant_id, bank_account_id, provider_account_id, gross_rupiah, fee_rupiah,
     amount_rupiah, rail, payout_policy_id, line_count, up_to_posting_id, approval_kind, requested_by, approved_by,
     status, version, send_count, send_outcome, requested_at, submitted_at, last_sent_at, finished_at, updated_at,
     sealed_terms)
   select ${idOf('n')}, 'LP' || lpad(n::text, 16, '0'), $1, ${idOf('1')}, provider.id, 100000, 2500, 97500, 'bi_fast',
     1, ${DAY}, 1, 'second_user', 'user:' || person.id, case when n > 1 then 'user:' || gen_random_uuid() end,
     case when n > 1 then 'completed' else 'requested' end, 4, case when n > 1 then 1 else 0 end, null, at,
     case when n > 1 then at end, case when n > 1 then at end, case when n > 1 then at end, at, ''
   from (select n, now() - n * interval '1 day' as at from generate_series(1, ${PAYOUTS}) n) numbered,
     (select id from provider_accounts limit 1) provider, (select gen_random_uuid() as id) person`,
  `insert into payout_transitions (payout_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
   select ${idOf('n')}, step.version, name, from_status, to_status, now(), 'workflow', now()
   from generate_series(1, ${PAYOUTS}) n, (values (1, 'request', null, 'requested'),
     (2, 'approve', 'requested', 'approved'), (3, 'submit', 'approved', 'submitted'),
     (4, 'complete', 'submitted', 'completed')) step (version, name, from_status, to_status)`,
  `insert into webhook_endpoints (id, merchant_id, url)
   select ${idOf('e')}, $1, 'https://shop.example/' || e from generate_series(1, 3) e`,
  `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four, name)
   select ${idOf('n')}, $1, sha256(n::text::bytea), 'sk_test_', 'abcd', 'Server ' || n
   from generate_series(1, 20) n`,
  `insert into api_requests (request_id, started_at, key_id, merchant_id, method, path, status, duration_ms,
     payment_ids)
   select 'request-' || n, ${AT}, ${idOf('1 + n % 20')}, $1, 'POST', '/payments',
     case when n % 40 = 0 then 503 else 201 end, 20, array[${PAYMENT_ID}]
   from generate_series(1, 3 * ${COMPLETE}) n`,
  `insert into merchant_operator_actions (merchant_id, action, target, requested_at, outcome)
   select $1::uuid, 'merchant.hold', $1::uuid, ${AT}, 'succeeded' from generate_series(1, 2 * ${COMPLETE}) n`,
  // The newest ones: each has an outcome to read.
  `insert into user_actions (actor, via, user_id, merchant_id, action, target, address)
   select 'user:' || user_id, 'dashboard', user_id, $1, 'key.create', ${idOf('1')}, '192.0.2.1'
   from generate_series(1, ${COMPLETE} / 2) n, (select user_id from members where merchant_id = $1 limit 1) member`,
  `insert into user_action_outcomes (action_id, outcome) select id, 'succeeded' from user_actions
   where action = 'key.create'`,
  `insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code)
   select ${idOf('n')}, 1, ${AT}, 20, 200 from generate_series(1, ${COMPLETE}) n`,
] as const;

interface Filling {
  readonly merchantId: string;
  readonly accountId: string;
  readonly policyId: string;
}

const linkOf = (payment: number) => 1 + Math.floor(payment / 10);

/** Gives a merchant the payments with these numbers, all older than those of an earlier call. */
export async function fillMerchant(db: Pool, of: Filling, first: number, last: number): Promise<void> {
  await withoutIndexes(db, TABLES, async (client) => {
    await client.query(PAYMENTS, [of.merchantId, of.accountId, of.policyId, first, last]);
    await client.query(TRANSITIONS, [first, last]);
    await client.query(LINES, [of.merchantId, first, last]);
    await client.query(EVENTS, [first, last]);
    await client.query(DELIVERIES, [of.merchantId, first, last]);
    await client.query(LINKS, [of.merchantId, first === 1 ? 1 : linkOf(first - 1) + 1, linkOf(last)]);
    await client.query(LINK_PAYMENTS, [first, last]);
    for (const statement of CLOSED_DAYS) await client.query(statement);
    if (first > 1) return;
    for (const statement of ROWS_OF_NEWEST) {
      await client.query(statement, statement.includes('$1') ? [of.merchantId] : []);
    }
  });
}

/** What the pages of the merchant show. */
export async function readFilledMerchant(db: Pool, merchantId: string): Promise<FilledMerchant> {
  const { rows } = await db.query<Omit<FilledMerchant, keyof FilledLinks | 'orderId'>>(
    `select code, ${idOf('1')} as key, ${idOf('1')} as endpoint, ${idOf('1')} as delivery,
       ${idOf('1')} as "bankAccount", array[${idOf('1')}, ${idOf('2')}] as payouts,
       ${idOf('1')} as passkey, ${idOf('1')} as link,
       (select number from fee_invoices where merchant_id = $1 order by sequence desc limit 1) as invoice,
       to_char(greatest(now() - interval '30 hours', $3::date), 'YYYY-MM-DD') as day, (
       select json_object_agg(status, (
         select reference_id from payments where merchant_id = $1 and payments.status = listed.status
         order by created_at desc limit 1))
       from unnest($2::text[]) listed (status)) as references
     from merchants where id = $1`,
    [merchantId, PAYMENT_STATUSES, await findFirstDay(db, merchantId)],
  );
  const [found] = rows;
  if (found === undefined) throw new Error(`There is no merchant ${merchantId}`);
  const references = Object.entries(found.references).filter(([, reference]) => reference !== null);
  const links = await createLinks(db, merchantId);
  return { ...found, ...links, references: Object.fromEntries(references), orderId: 'ORDER-1' };
}

type FilledLinks = Pick<FilledMerchant, 'invitation' | 'invitationId' | 'reset' | 'member'>;

async function createLinks(db: Pool, merchantId: string): Promise<FilledLinks> {
  const [now, createdBy] = [new Date(), 'cli:test'];
  const request = { merchantId, email: 'invited@shop.test', role: 'viewer', createdBy } as const;
  const invitation = await inviteAt(db, request, now);
  const [member] = await listMembers(db, merchantId);
  await db.query(
    `insert into passkeys (id, user_id, realm, credential_id, public_key, counter, rp_id, name, is_backed_up,
       created_at)
     values (${idOf('1')}, $1, 'merchant', 'credential', '', 0, 'localhost', 'Phone', true, now())`,
    [member?.userId],
  );
  const reset = await resetAt(db, { userId: member?.userId ?? '', createdBy, merchantId }, now);
  return {
    invitation: invitation.token,
    invitationId: invitation.id,
    reset: reset.token,
    member: member?.userId ?? '',
  };
}
