import { PROPOSAL_STATUSES } from '../../domain/bank-account-transitions';
import { EXCEPTION_KINDS } from '../../domain/exception-kinds';
import { OPEN_STATUSES } from '../../domain/payment-transitions';
import { OPEN_PAYOUT_STATUSES } from '../../domain/payout-transitions';
import { totalCoverage, type PartCoverage } from '../../domain/reconciliation';
import { AGE_GROUPS, COUNT_LIMIT, PAYOUT_ATTENTION_REASONS, type PROPOSAL_AGES } from '../../observability/definitions';
import type { Sample } from '../../observability/metrics';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { PASS_HOUR } from '../ledger/payment-totals';
import { CREATED_AT, STATUS } from '../payments/payment-indexes';
import { payoutsWithReason } from '../payouts/payouts-needing-attention';
import { LAST_RUNS } from './daily-runs';
import { LIVE_ROLES } from './missing-roles';
import {
  IS_SETTLED_BY_OPERATOR,
  IS_SETTLEMENT_DUE,
  IS_UNCONFIRMED_REFUND,
  OVERDUE,
  OVERDUE_BUT_ON_HOLD,
  type Overdue,
} from './overdue-payments';
import { readRecoveryMode } from './recovery-mode';

/*
 * The gauges that come from PostgreSQL. Each statement follows an index and ends at a limit, so that it reads few
 * buffers whatever the size of its table (test/slow/scale/scale.test.ts).
 */

const NOW = "(now() at time zone 'utc')";

/** Name and bounds of each group. The first one includes a creation by a clock that is ahead. */
const AGE_ROWS = Object.entries(AGE_GROUPS)
  .map(([age, older], index, groups) => {
    const younger = groups[index - 1]?.[1] ?? '-1 day';
    return `('${age}', interval '${younger}', interval '${older}')`;
  })
  .join(', ');

const OPEN_PAYMENTS = `
  select 'lunas_payments_open' as name, json_build_object('status', wanted, 'age', age) as labels, count as value
  from unnest(array[${literalList(OPEN_STATUSES)}]) wanted
  cross join (values ${AGE_ROWS}) age_group (age, younger, older)
  cross join lateral (
    select count(*) from (
      select from payments
      where ${STATUS} = wanted and ${CREATED_AT} <= ${NOW} - younger and ${CREATED_AT} > ${NOW} - older
      limit ${COUNT_LIMIT}
    ) found
  ) counted`;

const countAttention = (reason: string, parts: readonly Overdue[]): string => `
  select 'lunas_payments_needing_attention' as name, '{"reason":"${reason}"}'::json as labels, count(*) as value
  from (${parts.map(({ condition }) => `(select from payments where ${condition} limit ${COUNT_LIMIT})`).join(`
    union all `)}) overdue`;

const STUCK_REFUNDS = `
  select 'lunas_payments_needing_attention' as name, '{"reason":"refund_failed"}'::json as labels, count(*) as value
  from (select from payments where ${STATUS} = 'refund_failed' limit ${COUNT_LIMIT}) rejected
  union all
  select 'lunas_payments_needing_attention', '{"reason":"refund_unconfirmed"}', count(*)
  from (select from refunds where ${IS_UNCONFIRMED_REFUND} limit ${COUNT_LIMIT}) unconfirmed`;

/** The index begins with the merchant: the statement visits each merchant that has such payments. */
const SETTLEMENTS_DUE = `
  with recursive waiting (merchant_id, position) as (
    (select merchant_id, 1 from payments where ${IS_SETTLED_BY_OPERATOR} order by merchant_id limit 1)
    union all
    select next.merchant_id, position + 1 from waiting cross join lateral (
      select merchant_id from payments
      where ${IS_SETTLED_BY_OPERATOR} and payments.merchant_id > waiting.merchant_id
      order by merchant_id limit 1
    ) next where position < ${COUNT_LIMIT}
  )
  select 'lunas_payments_needing_attention' as name, '{"reason":"settlement_due"}'::json as labels,
    count(*) as value
  from (
    select from waiting cross join lateral (
      select from payments where ${IS_SETTLEMENT_DUE} and payments.merchant_id = waiting.merchant_id
      limit ${COUNT_LIMIT}
    ) due limit ${COUNT_LIMIT}
  ) all_due`;

/**
 * A claim of the sweeper makes a notification due again after 10 seconds, so the oldest is among those that are due in
 * 15 seconds. One that the provider's status does not reflect yet waits for longer, as it should.
 */
const NOTIFICATIONS = `
  select 'lunas_notifications_open' as name, '{}'::json as labels, count(*)::float8 as value
  from (select from provider_notifications where closed_at is null limit ${COUNT_LIMIT}) open
  union all
  select 'lunas_notifications_oldest_open_age_seconds', '{}',
    coalesce(extract(epoch from now() - min(received_at)), 0)::float8
  from (
    select received_at from provider_notifications
    where closed_at is null and next_notify_at <= now() + interval '15 seconds'
    order by next_notify_at limit ${COUNT_LIMIT}
  ) due`;

const EXCEPTIONS = `
  select 'lunas_exceptions_open' as name, json_build_object('kind', wanted) as labels, count as value
  from unnest(array[${literalList(EXCEPTION_KINDS)}]) wanted
  cross join lateral (
    select count(*) from (
      select from exceptions where kind = wanted and resolved_at is null limit ${COUNT_LIMIT}
    ) found
  ) counted`;

const OPEN_PAYOUTS = `
  select 'lunas_payouts_open' as name, json_build_object('status', wanted) as labels, count as value
  from unnest(array[${literalList(OPEN_PAYOUT_STATUSES)}]) wanted
  cross join lateral (
    select count(*) from (
      select from payouts
      where status = wanted and status in (${literalList(OPEN_PAYOUT_STATUSES)}) limit ${COUNT_LIMIT}
    ) found
  ) counted`;

const PAYOUTS_NEEDING_ATTENTION = `
  select 'lunas_payouts_needing_attention' as name, json_build_object('reason', wanted) as labels,
    least(count(payout.id), ${COUNT_LIMIT}) as value
  from unnest(array[${literalList(PAYOUT_ATTENTION_REASONS)}]) wanted
    left join (${payoutsWithReason('now()')}
    ) payout on reason = wanted
  group by wanted`;

/** The group of each proposal, by when it was made. */
const PROPOSAL_AGE_CONDITIONS = {
  up_to_a_working_day: 'created_at >= working_day_ago',
  over_a_working_day: 'created_at < working_day_ago',
} as const satisfies Readonly<Record<(typeof PROPOSAL_AGES)[number], string>>;

/** The present time on the working day before, in WIB. On a day without work it is the beginning of the last one. */
const WORKING_DAY_AGO = `
  select (min(day) + case max(day) when today then (now() at time zone 'Asia/Jakarta')::time else time '24:00' end)
    at time zone 'Asia/Jakarta' as working_day_ago
  from (
    select day, today from booking_day(now()) as today cross join lateral (
      select today - back as day from generate_series(0, 30) as back
    ) days
    where is_working_day(day)
    order by day desc limit 2
  ) working
  group by today`;

const BANK_ACCOUNTS_WAITING = `
  with ago as (${WORKING_DAY_AGO})
  ${Object.entries(PROPOSAL_AGE_CONDITIONS)
    .map(
      ([age, condition]) => `
  select 'lunas_bank_accounts_waiting' as name, json_build_object('status', wanted, 'age', '${age}') as labels,
    count as value
  from unnest(array[${literalList(PROPOSAL_STATUSES)}]) wanted
  cross join lateral (
    select count(*) from (
      select from bank_accounts cross join ago
      where status = wanted and status in (${literalList(PROPOSAL_STATUSES)}) and ${condition} limit ${COUNT_LIMIT}
    ) found
  ) counted`,
    )
    .join(' union all')}`;

const DAILY_RUNS = `
  with run as (${LAST_RUNS})
  select 'lunas_run_last_complete_timestamp_seconds' as name, json_build_object('run', kind) as labels,
    extract(epoch from completed_at)::float8 as value from run
  union all
  select 'lunas_run_last_failures', json_build_object('run', kind),
    greatest(failed_count, (failure is not null)::integer)
  from run where finished_at is not null`;

const LAST_RESULTS = `
  (select 'lunas_ledger_breaks' as name, '{"verification":"newest"}'::json as labels, break_count::float8 as value
    from ledger_verification_results order by id desc limit 1)
  union all
  (select 'lunas_ledger_breaks', '{"verification":"newest_full"}', break_count
    from ledger_verification_results where is_full order by id desc limit 1)
  union all
  (select 'lunas_ledger_last_verification_timestamp_seconds', '{}', extract(epoch from coalesce(
      (select verified_at from ledger_verification_results order by id desc limit 1), recorded_at))::float8
    from installation)
  union all
  (select 'lunas_reconciliation_last_success_timestamp_seconds', '{}', extract(epoch from coalesce(
      (select ended_at from reconciliation_runs where is_complete order by id desc limit 1), recorded_at))::float8
    from installation)
  union all
  (select 'lunas_reconciliation_last_success_duration_seconds', '{}', extract(epoch from ended_at - started_at)::float8
    from reconciliation_runs where is_complete order by id desc limit 1)
  union all
  (select 'lunas_retention_last_success_timestamp_seconds', '{}', extract(epoch from at)::float8
    from (
      (select 1 as priority, ended_at as at from retention_runs where is_complete order by id desc limit 1)
      union all
      select 2, recorded_at from installation
    ) newest order by priority limit 1)
  union all
  (select 'lunas_payment_totals_last_pass_timestamp_seconds', '{}', extract(epoch from greatest(
      (recomputed_on + interval '${PASS_HOUR} hours') at time zone 'Asia/Jakarta', installation.recorded_at))::float8
    from totals_progress left join installation on true)`;

const ROLES = `
  select 'lunas_role_last_seen_timestamp_seconds' as name, json_build_object('role', role) as labels,
    extract(epoch from seen_at)::float8 as value from (${LIVE_ROLES}) live`;

const AUDIT_VERIFICATIONS = `
  select 'lunas_audit_breaks' as name,
    json_build_object('verification', case when is_full then 'newest_full' else 'newest' end) as labels,
    break_count::float8 as value
  from audit_verifications
  union all
  select 'lunas_audit_last_verification_timestamp_seconds', '{}', extract(epoch from verified_at)::float8
  from audit_verifications where not is_full`;

const CELL_INFO = `
  select 'lunas_cell_info' as name, json_build_object('cell', cell) as labels, 1 as value from installation`;

const ACCOUNTS_CHANGED = `
  select 'lunas_provider_accounts_changed' as name, '{}'::json as labels, count(*) as value
  from provider_accounts where changed_at > now() - interval '24 hours'`;

const STATEMENTS: Readonly<Record<string, string>> = {
  gauge_open_payments: OPEN_PAYMENTS,
  gauge_overdue_payments: countAttention('overdue', OVERDUE),
  gauge_payments_on_hold: countAttention('on_hold', [OVERDUE_BUT_ON_HOLD]),
  gauge_stuck_refunds: STUCK_REFUNDS,
  gauge_settlements_due: SETTLEMENTS_DUE,
  gauge_notifications: NOTIFICATIONS,
  gauge_exceptions: EXCEPTIONS,
  gauge_open_payouts: OPEN_PAYOUTS,
  gauge_payouts_needing_attention: PAYOUTS_NEEDING_ATTENTION,
  gauge_bank_accounts_waiting: BANK_ACCOUNTS_WAITING,
  gauge_roles: ROLES,
  gauge_cell: CELL_INFO,
  gauge_accounts_changed: ACCOUNTS_CHANGED,
  gauge_last_results: LAST_RESULTS,
  gauge_daily_runs: DAILY_RUNS,
  gauge_audit_verifications: AUDIT_VERIFICATIONS,
};

/** The gauges of recovery mode, payments, notifications, exceptions, ledger and reconciliation. */
export async function readBusinessGauges(db: Queryable): Promise<Sample[]> {
  const { isOn } = await readRecoveryMode(db);
  const samples = await readCoverage(db);
  samples.push({ name: 'lunas_recovery_mode', labels: {}, value: isOn ? 1 : 0 });
  for (const [name, text] of Object.entries(STATEMENTS)) {
    const { rows } = await db.query<Sample>({ name, text });
    samples.push(...rows);
  }
  return samples;
}

async function readCoverage(db: Queryable): Promise<Sample[]> {
  const { rows } = await db.query<{ coverage: PartCoverage[] }>({
    name: 'gauge_coverage',
    text: 'select coverage from reconciliation_runs order by id desc limit 1',
  });
  return rows.flatMap(({ coverage }) =>
    Object.entries(totalCoverage(coverage)).map(([result, value]) => ({
      name: 'lunas_reconciliation_last_run_items',
      labels: { result },
      value,
    })),
  );
}
