import { createPool, type Pool } from '../../src/db/connection/pool';
import { readBusinessGauges } from '../../src/db/operations/business-gauges';
import { freePort } from '../../src/local-stack/ports';
import { COUNT_LIMIT } from '../../src/observability/definitions';
import type { Sample } from '../../src/observability/metrics';
import { readOutboxGauges } from '../../src/webhooks/outbox-gauges';
import { startWorkerMetrics } from '../../src/worker/worker-metrics';
import { collectLog } from '../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { changes, fetchMetrics, parseSeries, type Series } from '../support/metrics-page';

const MERCHANT = "'00000000-0000-0000-0000-000000000001'";
const POLICY = "'00000000-0000-0000-0000-000000000002'";
const ACCOUNT = "'00000000-0000-0000-0000-000000000003'";
const ENDPOINT = "'00000000-0000-0000-0000-000000000004'";
const PAYOUTS_ACCOUNT = "'00000000-0000-0000-0000-000000000005'";
const BANK_ACCOUNT = "'00000000-0000-0000-0000-000000000006'";

let database: TestDatabase;
/** The pool of the worker, as it reads the gauges. */
let worker: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  worker = createPool(database.urlOf('lunas_local_worker'), { max: 1 });
});
afterAll(async () => {
  await worker.end();
  await database.drop();
});

const CATALOG = `
  insert into merchants (id, name, status) values (${MERCHANT}, 'Toko', 'approved');
  insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
    settlement_delay_seconds, expires_in_seconds)
    values (${POLICY}, 'gopay', 'qris', 1, 70, 0, 'automatic', 86400, 900);
  insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key)
    values (${ACCOUNT}, 'gopay', 'midtrans', 'http://127.0.0.1:9', 'none');
  insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key, sealed_credentials)
    values (${PAYOUTS_ACCOUNT}, 'payouts', 'snap-midtrans', 'http://127.0.0.1:9', 'none', 'none');
  insert into webhook_endpoints (id, merchant_id, url) values (${ENDPOINT}, ${MERCHANT}, 'http://127.0.0.1:9');`;

interface Planted {
  readonly status: string;
  readonly age?: string;
  readonly settlement?: 'automatic' | 'manual';
  /** Since when the QR is expired and the settlement due. */
  readonly dueSince?: string;
  readonly count?: number;
  /** Before the number in references. */
  readonly prefix?: string;
}

/** The triggers of a payment's rows are off: each case plants one inconsistency. */
const payments = ({
  status,
  age = '1 minute',
  settlement = 'automatic',
  dueSince = '-1 day',
  count = 1,
  prefix = '',
}: Planted) => `
  insert into payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
    amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind,
    settlement_delay_seconds, status, version, expires_at, created_at, updated_at, settlement_due_at)
  select md5('p${prefix}' || n)::uuid, 'LN${prefix}' || n, ${MERCHANT}, 'f', 'qris', 'gopay', ${ACCOUNT},
    50000, 350, 50000, 49650,
    'merchant', ${POLICY}, '${settlement}', 86400, '${status}', 2, now() - interval '${dueSince}',
    now() - interval '${age}', now(), now() - interval '${dueSince}'
  from generate_series(1, ${count}) n;`;

const deliveries = (queued: string, columns = 'leased_until', values = "'-infinity'") => `
  ${payments({ status: 'settled' })}
  insert into payment_transitions (payment_id, version, name, to_status, occurred_at, actor)
    values (md5('p1')::uuid, 1, 'create', 'created', now(), 'workflow');
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
    values (md5('p1')::uuid, 1, 'payment.created', '{}', now());
  insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
      queued_at, ${columns})
    values (gen_random_uuid(), md5('p1')::uuid, 1, ${ENDPOINT}, ${MERCHANT}, 'payment.created', 'pending',
      now() - interval '${queued}', ${values});`;

/** A payout of this status; `columns` are those that only some statuses have. */
const payout = (status: string, age: string, columns = '', values = '') => `
  insert into payouts (id, reference_id, merchant_id, bank_account_id, provider_account_id, gross_rupiah, fee_rupiah,
    amount_rupiah, rail, payout_policy_id, line_count, up_to_posting_id, approval_kind, requested_by, approved_by,
    sealed_terms, status, version, requested_at, updated_at${columns})
  values (gen_random_uuid(), 'LP1', ${MERCHANT}, ${BANK_ACCOUNT}, ${PAYOUTS_ACCOUNT}, 50000, 2500, 47500, 'bi_fast',
    1, 1, 1, 'none', 'user:a', 'workflow', 'x', '${status}', 2, now(), now() - interval '${age}'${values});`;
const sent = (age: string, outcome: string) =>
  payout(
    'submitted',
    age,
    ', submitted_at, last_sent_at, send_count, send_outcome',
    `, now() - interval '${age}', now() - interval '${age}', 1, ${outcome}`,
  );

/** A bank account of the merchant, in this status for so long. */
const bankAccount = (status: string, age = '0 days') => `
  insert into bank_accounts (id, merchant_id, bank_code, sealed_number, number_hmac, last_four, status, version,
    proposed_by, usable_from, created_at, updated_at)
  values (${BANK_ACCOUNT}, ${MERCHANT}, '014', 'x', 'x', '7890', '${status}', 2, 'cli:a', now() - interval '${age}',
    now() - interval '${age}', now());`;

const notification = (columns: string, values: string) => `
  insert into provider_notifications (provider_account_id, reference_id, body_sha256, body, received_at, ${columns})
    values (${ACCOUNT}, 'LN1', sha256('x'), '{}', now() - interval '100 seconds', ${values});`;

const open = (status: string, age = 'under_1h') => `lunas_payments_open{status="${status}",age="${age}"}`;
const attention = (reason: string) => `lunas_payments_needing_attention{reason="${reason}"}`;
const openPayouts = (status: string) => `lunas_payouts_open{status="${status}"}`;
const payoutAttention = (reason: string) => `lunas_payouts_needing_attention{reason="${reason}"}`;
const waiting = (status: string, age: string) => `lunas_bank_accounts_waiting{status="${status}",age="${age}"}`;
const breaks = (verification: string) => `lunas_ledger_breaks{verification="${verification}"}`;
const auditBreaks = (verification: string) => `lunas_audit_breaks{verification="${verification}"}`;
const AUDITED = 'lunas_audit_last_verification_timestamp_seconds{}';
const covered = (result: string) => `lunas_reconciliation_last_run_items{result="${result}"}`;
const OLDEST = 'lunas_notifications_oldest_open_age_seconds{}';
const LAG = 'lunas_webhook_relay_lag_seconds{}';
const OUTBOX = 'lunas_webhook_outbox_pending{}';
const VERIFIED = 'lunas_ledger_last_verification_timestamp_seconds{}';
const TOOK = 'lunas_reconciliation_last_success_duration_seconds{}';
const completed = (run: string) => `lunas_run_last_complete_timestamp_seconds{run="${run}"}`;
const runFailures = (run: string) => `lunas_run_last_failures{run="${run}"}`;
const RETAINED = 'lunas_retention_last_success_timestamp_seconds{}';
const RECONCILED = 'lunas_reconciliation_last_success_timestamp_seconds{}';
/** A time: the number of seconds depends on the test's own speed. */
const ABOUT = (seconds: number) => ({ from: seconds - 1, to: seconds + 60 });
/** After the installation, which the gauge has before the first run. */
const NOW = Date.now() / 1_000;
const A_DAY_LATER = { from: 80_000, to: 100_000 };
const IN_TWO_DAYS = { from: 90_000, to: 200_000 };

type Expected = Readonly<Record<string, number | { readonly from: number; readonly to: number }>>;

const CASES: Readonly<Record<string, { readonly plant: string; readonly moves: Expected }>> = {
  'an open payment': { plant: payments({ status: 'pending' }), moves: { [open('pending')]: 1 } },
  'a final payment': { plant: payments({ status: 'settled' }), moves: {} },
  'an older payment': {
    plant: payments({ status: 'paid', age: '3 days' }),
    moves: { [open('paid', '1d_to_7d')]: 1 },
  },
  'a very old payment': {
    plant: payments({ status: 'refund_processing', age: '9 days' }),
    moves: { [open('refund_processing', 'over_7d')]: 1 },
  },
  'more payments than are counted': {
    plant: payments({ status: 'pending', age: '2 hours', count: COUNT_LIMIT + 5 }),
    moves: { [open('pending', '1h_to_1d')]: COUNT_LIMIT },
  },
  'a payment whose QR was never issued': {
    plant: payments({ status: 'created', age: '11 minutes' }),
    moves: { [open('created')]: 1, [attention('overdue')]: 1 },
  },
  'a payment that should have expired': {
    plant: payments({ status: 'pending', dueSince: '6 minutes' }),
    moves: { [open('pending')]: 1, [attention('overdue')]: 1 },
  },
  'a payment that has just expired': {
    plant: payments({ status: 'pending', dueSince: '1 minute' }),
    moves: { [open('pending')]: 1 },
  },
  'a payment that should have settled': {
    plant: payments({ status: 'paid', dueSince: '6 minutes' }),
    moves: { [open('paid')]: 1, [attention('overdue')]: 1 },
  },
  'a payment that should have settled behind 2,000 older ones with manual settlement': {
    plant:
      payments({ status: 'paid', settlement: 'manual', age: '3 hours', count: 2_000 }) +
      payments({ status: 'paid', dueSince: '6 minutes', prefix: 'late' }),
    moves: { [open('paid', '1h_to_1d')]: COUNT_LIMIT, [open('paid')]: 1, [attention('overdue')]: 1 },
  },
  'the payments of a merchant on hold': {
    plant: `${payments({ status: 'paid', dueSince: '6 minutes', count: 3 })}
      update merchants set held_at = now()`,
    moves: { [open('paid')]: 3, [attention('on_hold')]: 3 },
  },
  'a payment that should have expired, of a merchant on hold': {
    plant: `${payments({ status: 'pending', dueSince: '6 minutes' })} update merchants set held_at = now()`,
    moves: { [open('pending')]: 1, [attention('overdue')]: 1 },
  },
  'a settlement that recovery mode holds back': {
    plant: `${payments({ status: 'paid', dueSince: '6 minutes' })}
      update merchants set held_at = null;
      update recovery_mode set begun_at = now(), begun_by = 'cli:sari', reason = 'restored'`,
    moves: { [open('paid')]: 1, [attention('on_hold')]: 1, 'lunas_recovery_mode{}': 1 },
  },
  'a payment that an operator has to settle': {
    plant: payments({ status: 'paid', settlement: 'manual', dueSince: '6 minutes' }),
    moves: { [open('paid')]: 1, [attention('settlement_due')]: 1 },
  },
  'a payment that an operator has to settle tomorrow': {
    plant: payments({ status: 'paid', settlement: 'manual' }),
    moves: { [open('paid')]: 1 },
  },
  'a rejected refund': {
    plant: payments({ status: 'refund_failed' }),
    moves: { [open('refund_failed')]: 1, [attention('refund_failed')]: 1 },
  },
  'a refund that the provider does not confirm': {
    plant: `${payments({ status: 'refund_processing' })}
      insert into refunds (payment_id, number, refund_key, amount_rupiah, status, requested_at, submit_at, submitted_at)
        select id, 1, 'k', 50000, 'submitted', now(), now(), now() - interval '11 minutes' from payments`,
    moves: { [open('refund_processing')]: 1, [attention('refund_unconfirmed')]: 1 },
  },
  'a delivery that no relay sends': { plant: deliveries('100 seconds'), moves: { [OUTBOX]: 1, [LAG]: ABOUT(100) } },
  'a delivery under a lease': {
    plant: deliveries('100 seconds', 'leased_until', "now() + interval '1 minute'"),
    moves: { [OUTBOX]: 1 },
  },
  'a delivery in a retry workflow': { plant: deliveries('1 hour', 'retry_workflow_started_at', 'now()'), moves: {} },
  'a delivery of a failing endpoint': {
    plant: `${deliveries('1 hour')} update webhook_endpoints set consecutive_failures = 20, failing_since = now(),
      next_probe_at = now()`,
    moves: { [OUTBOX]: 1 },
  },
  'a notification that is not handled': {
    plant: notification('next_notify_at', 'now()'),
    moves: { 'lunas_notifications_open{}': 1, [OLDEST]: ABOUT(100) },
  },
  'a notification that waits for the bank': {
    plant: notification('next_notify_at', "now() + interval '1 hour'"),
    moves: { 'lunas_notifications_open{}': 1 },
  },
  'a closed notification': { plant: notification('closed_at', 'now()'), moves: {} },
  'an exception': {
    plant: `insert into exceptions (kind, reference_id, detail) values ('paid_twice', 'LN1', 'x')`,
    moves: { 'lunas_exceptions_open{kind="paid_twice"}': 1 },
  },
  'a resolved exception': {
    plant: `insert into exceptions (kind, reference_id, detail, resolved_at, resolved_by)
      values ('paid_twice', 'LN1', 'x', now(), 'cli:sari')`,
    moves: {},
  },
  'a provider account that was changed today': {
    plant: `update provider_accounts set changed_at = now() - interval '23 hours' where id = ${ACCOUNT};
      update provider_accounts set changed_at = now() - interval '25 hours' where id = ${PAYOUTS_ACCOUNT}`,
    moves: { 'lunas_provider_accounts_changed{}': 1 },
  },
  'a payout that waits for an operator': {
    plant: `${payout('requested', '1 minute')} update payouts set approval_kind = 'operator'`,
    moves: { [openPayouts('requested')]: 1, [payoutAttention('waiting_for_approval')]: 1 },
  },
  'a payout that waits for a second member': {
    plant: `${payout('requested', '1 day')} update payouts set approval_kind = 'second_user'`,
    moves: { [openPayouts('requested')]: 1 },
  },
  'a payout that is about to be sent': {
    plant: `${bankAccount('suspended')} ${payout('approved', '1 minute')}`,
    moves: { [openPayouts('approved')]: 1 },
  },
  'a payout that a suspended bank account keeps back': {
    plant: `${bankAccount('suspended')} ${payout('approved', '2 hours')}`,
    moves: { [openPayouts('approved')]: 1, [payoutAttention('deferred')]: 1 },
  },
  'a payout that nothing keeps back, and that its workflow does not submit': {
    plant: `${bankAccount('active', '2 days')} ${payout('approved', '11 minutes')}`,
    moves: { [openPayouts('approved')]: 1, [payoutAttention('not_sent')]: 1 },
  },
  'a payout that its workflow submits within minutes': {
    plant: `${bankAccount('active', '2 days')} ${payout('approved', '9 minutes')}`,
    moves: { [openPayouts('approved')]: 1 },
  },
  'a payout whose call had no certain response': {
    plant: sent('11 minutes', 'null'),
    moves: { [openPayouts('submitted')]: 1, [payoutAttention('indeterminate')]: 1 },
  },
  'a payout whose call the bank has not known for a day': {
    plant: sent('25 hours', 'null'),
    moves: { [openPayouts('submitted')]: 1, [payoutAttention('not_found')]: 1 },
  },
  'a payout that the bank has just accepted': {
    plant: sent('30 seconds', "'accepted'"),
    moves: { [openPayouts('submitted')]: 1 },
  },
  'a payout that takes longer at the bank than its rail does': {
    plant: sent('2 minutes', "'accepted'"),
    moves: { [openPayouts('submitted')]: 1, [payoutAttention('overdue')]: 1 },
  },
  'a bank account that was just proposed': {
    plant: bankAccount('pending_inquiry'),
    moves: { [waiting('pending_inquiry', 'up_to_a_working_day')]: 1 },
  },
  'a bank account that waits for its approval for a month': {
    plant: bankAccount('pending_approval', '30 days'),
    moves: { [waiting('pending_approval', 'over_a_working_day')]: 1 },
  },
  'a bank account that waits over ten days without banks': {
    plant: `insert into bank_holidays select current_date - back from generate_series(-1, 10) back;
      ${bankAccount('pending_approval', '8 days')}`,
    moves: { [waiting('pending_approval', 'up_to_a_working_day')]: 1 },
  },
  'recovery mode': {
    plant: "update recovery_mode set begun_at = now(), begun_by = 'cli:sari', reason = 'restored'",
    moves: { 'lunas_recovery_mode{}': 1 },
  },
  'another timeline than the recorded one': {
    plant: 'update recovery_mode set timeline = 7',
    moves: { 'lunas_recovery_mode{}': 1 },
  },
  'a verification without breaks': {
    plant: `insert into ledger_verification_results (verified_at, is_full, break_count)
      values (now() + interval '1 day', true, 0)`,
    moves: { [VERIFIED]: A_DAY_LATER },
  },
  'breaks in old rows, which a later verification of recent payments does not visit': {
    plant: `insert into ledger_verification_results (is_full, break_count) values (true, 3);
      insert into ledger_verification_results (verified_at, is_full, break_count)
      values (now() + interval '1 day', false, 1)`,
    moves: { [breaks('newest_full')]: 3, [breaks('newest')]: 1, [VERIFIED]: A_DAY_LATER },
  },
  'breaks of the audit log, in all entries and in new ones': {
    plant: `insert into audit_verifications (is_full, verified_at, break_count)
      values (true, now(), 3), (false, timestamptz 'epoch' + interval '100 seconds', 2)`,
    moves: { [auditBreaks('newest_full')]: 3, [auditBreaks('newest')]: 2, [AUDITED]: 100 },
  },
  'a reconciliation run that is not complete': {
    plant: `insert into reconciliation_runs (started_at, changed_since, is_complete, coverage) values (now(), now(),
      false, '[{"accountId":"a","seen":9,"compared":7,"indeterminate":2,"unasked":5,"breaks":1}]')`,
    moves: {
      [covered('seen')]: 9,
      [covered('compared')]: 7,
      [covered('indeterminate')]: 2,
      [covered('unasked')]: 5,
      [covered('breaks')]: 1,
    },
  },
  'a complete reconciliation run': {
    plant: `insert into reconciliation_runs (started_at, ended_at, changed_since, is_complete, coverage) values
      (now() + interval '1 day' - interval '90 seconds', now() + interval '1 day', now(), true,
        '[{"accountId":"a","seen":4,"compared":4,"indeterminate":0,"unasked":0,"breaks":0}]')`,
    moves: { [covered('seen')]: 4, [covered('compared')]: 4, [RECONCILED]: A_DAY_LATER, [TOOK]: 90 },
  },
  'a run of retention that is not complete': {
    plant: `insert into retention_runs (started_at, ended_at, is_complete, deleted, positions)
      values (now(), now() + interval '1 day', false, '{}', '{}')`,
    moves: {},
  },
  'a complete run that closed days, and a later one that failed': {
    plant: `insert into daily_runs (kind, started_at, finished_at, is_complete, failure) values
      ('closing', now(), now() + interval '1 day', true, null),
      ('closing', now() + interval '2 days', now() + interval '3 days', false, 'PostgreSQL is full')`,
    moves: { [completed('closing')]: A_DAY_LATER, [runFailures('closing')]: 1 },
  },
  'a daily run of payouts with a merchant who failed': {
    plant: `insert into daily_runs (kind, started_at, finished_at, failed_count, failed)
      values ('payouts', now(), now() + interval '1 day', 1, array[${MERCHANT}])`,
    moves: { [runFailures('payouts')]: 1 },
  },
  'a complete daily run of payouts': {
    plant: `insert into daily_runs (kind, started_at, finished_at, is_complete)
      values ('payouts', now(), now() + interval '1 day', true)`,
    moves: { [completed('payouts')]: A_DAY_LATER },
  },
  'a role that was seen, and one that was given up': {
    plant: `insert into role_heartbeats (role, seen_at) values
      ('relay', now() + interval '1 day'), ('dashboard', now() - interval '8 days')`,
    // The series is a new one.
    moves: { 'lunas_role_last_seen_timestamp_seconds{role="relay"}': { from: NOW + 80_000, to: NOW + 100_000 } },
  },
  'a complete pass of the totals': {
    plant: "update totals_progress set recomputed_on = booking_day(now() + interval '2 days')",
    moves: { 'lunas_payment_totals_last_pass_timestamp_seconds{}': IN_TWO_DAYS },
  },
  'a complete run of retention': {
    plant: `insert into retention_runs (started_at, ended_at, is_complete, deleted, positions)
      values (now(), now() + interval '1 day', true, '{}', '{}')`,
    moves: { [RETAINED]: A_DAY_LATER },
  },
};

function toSeries(samples: readonly Sample[]): Series {
  const nameOf = ({ name, labels }: Sample): string => {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return `${name}{${pairs.join(',')}}`;
  };
  return new Map(samples.map((sample) => [nameOf(sample), sample.value]));
}

async function readGauges(db: Pool): Promise<Series> {
  return toSeries([...(await readOutboxGauges(db)), ...(await readBusinessGauges(db))]);
}

/** Replaces each number that is in its range by the range. */
function inRanges(found: Readonly<Record<string, number>>, expected: Expected): Expected {
  const entries = Object.entries(found).map(([name, value]) => {
    const range = expected[name];
    const isInRange = typeof range === 'object' && value >= range.from && value <= range.to;
    return [name, isInRange ? range : value];
  });
  return Object.fromEntries(entries);
}

describe('the worker reads from PostgreSQL', () => {
  let owner: Pool;
  beforeAll(async () => {
    owner = createPool(database.url, { max: 1 });
    await owner.query(CATALOG);
  });
  afterAll(() => owner.end());
  afterEach(() =>
    owner.query(`set session_replication_role = replica;
      truncate payouts, bank_accounts, bank_holidays, payments, payment_transitions, refunds, webhook_events,
        webhook_deliveries, provider_notifications, exceptions, ledger_verification_results, reconciliation_runs,
        retention_runs, daily_runs, role_heartbeats, audit_verifications cascade;
      update provider_accounts set changed_at = null;
      update totals_progress set recomputed_on = 'epoch';
      update webhook_endpoints set consecutive_failures = 0, failing_since = null, next_probe_at = null;
      update recovery_mode set begun_at = null, begun_by = null, reason = null, timeline = postgresql_timeline();
      set session_replication_role = default`),
  );

  it.each(Object.entries(CASES))('%s', async (_name, { plant, moves }) => {
    const before = await readGauges(worker);
    await owner.query(`set session_replication_role = replica; ${plant}; set session_replication_role = default`);
    const found = changes(before, await readGauges(worker));
    expect(inRanges(found, moves)).toEqual(moves);
  });
});

it.each([
  ['payouts', 'lunas_local_payouts', false],
  ['sweeper', 'lunas_local_worker', true],
] as const)('a scrape of a worker with the role %s logs no failure', async (role, login, hasGauges) => {
  const written = collectLog();
  const [address, db] = [{ host: '127.0.0.1', port: await freePort() }, createPool(database.urlOf(login), { max: 1 })];
  const metrics = await startWorkerMetrics(
    { metrics: address, databaseUrl: database.urlOf(login), roles: [role], log: written.log },
    {
      db,
      workflows: { ping: () => Promise.resolve() },
      workers: [],
      sdkMetrics: undefined,
      stopSignal: new AbortController().signal,
    },
  );
  try {
    const page = parseSeries(await fetchMetrics(`http://${address.host}:${address.port}`));
    expect(page.get('lunas_dependency_up{dependency="postgresql"}')).toBe(1);
    expect([page.has('lunas_recovery_mode'), page.has(OUTBOX.slice(0, -2))]).toEqual([hasGauges, hasGauges]);
    expect(written.text()).toBe('');
  } finally {
    await Promise.all([metrics?.close(), db.end()]);
  }
});
