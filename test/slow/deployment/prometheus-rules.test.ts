import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../../src/package-info';

const RULES = path.join(PACKAGE_ROOT, 'deploy', 'prometheus', 'rules.yaml');
/** Every expectation of a longer test is at a multiple of five minutes. */
const LONG_MINUTES = 200;
const text = readFileSync(RULES, 'utf8');
const ALERTS = [...text.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '');

/** Series by name and labels. A value like `0x10` is 0 at the start and in each of the next 10 minutes. */
interface Scenario {
  readonly series: Readonly<Record<string, string>>;
  /** Minutes after the start. */
  readonly firesAt: number;
  readonly isOverAt: number;
}

const gauge = (name: string, bad: number, good = 0): Scenario => ({
  series: { [name]: `${good}x5 ${bad}x60 ${good}x60` },
  firesAt: 60,
  isOverAt: 120,
});
const up = (dependency: string) => gauge(`lunas_dependency_up{dependency="${dependency}"}`, 0, 1);

const CREATES = 'lunas_http_request_duration_seconds';
const requests = (status: string) => `${CREATES}_count{method="POST",route="/payments",status="${status}"}`;
const created = (bound: string) => `${CREATES}_bucket{method="POST",route="/payments",status="2xx",le="${bound}"}`;

const pages = (status: string) =>
  `lunas_http_request_duration_seconds_count{job="lunas-dashboard",method="GET",route="/m/:code",status="${status}"}`;

/** 100 requests a minute, of which this number is bad for a while. */
const errors = (bad: number, minutes: number): Scenario['series'] => ({
  [requests('2xx')]: `0+100x${minutes + 900}`,
  [requests('5xx')]: `0+${bad}x${minutes} ${bad * minutes}x900`,
});
const slowCreates = (bad: number, minutes: number): Scenario['series'] => ({
  [requests('2xx')]: `0+100x${minutes + 900}`,
  [created('2.5')]: `0+${100 - bad}x${minutes} ${(100 - bad) * minutes}+100x900`,
});

const providerCalls = (outcome: string) =>
  `lunas_provider_request_duration_seconds_count{account="a",operation="issue_qris",outcome="${outcome}"}`;
const bankCalls = (outcome: string) =>
  `lunas_provider_request_duration_seconds_count{account="b",operation="send_payout",outcome="${outcome}"}`;
const schedule = (bound: string) =>
  `temporal_workflow_task_schedule_to_start_latency_seconds_bucket{task_queue="lunas-payments",le="${bound}"}`;

const creates = (outcome: string) => `lunas_creates_total{outcome="${outcome}"}`;
const confirmed = (cause: string) => `lunas_payments_confirmed_total{cause="${cause}"}`;
const callerErrors = (code: string) => `lunas_http_requests_rejected_total{code="${code}"}`;

/** 6,000 creations a minute. Of 100 that are sent while nothing completes, 99 are not admitted. */
const nothingCompletes = (from: number, minutes: number): Scenario['series'] => ({
  [creates('completed')]: `0+6000x${from} ${6_000 * from}x${minutes} ${6_000 * from}+6000x60`,
  [creates('no_capacity')]: `0x${from} 0+5940x${minutes} ${5_940 * minutes}x60`,
  [creates('failed')]: `0x${from} 0+60x${minutes} ${60 * minutes}x60`,
});

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  LunasApiErrors: { series: errors(10, 30), firesAt: 30, isOverAt: 100 },
  LunasApiErrorsSlowBurn: { series: errors(1, 300), firesAt: 300, isOverAt: 720 },
  LunasDashboardErrors: {
    series: { [pages('2xx')]: '0+100x200', [pages('5xx')]: '0x10 0+10x20 200x200' },
    firesAt: 25,
    isOverAt: 50,
  },
  LunasCreatesSlow: { series: slowCreates(50, 30), firesAt: 30, isOverAt: 100 },
  LunasCreatesSlowBurn: { series: slowCreates(5, 300), firesAt: 300, isOverAt: 720 },
  LunasCreatesFailing: {
    series: nothingCompletes(10, 30),
    // Within five minutes.
    firesAt: 15,
    isOverAt: 50,
  },
  LunasProcessDown: {
    series: { 'up{job="lunas-api",instance="a"}': '1x5 0x20 1x20', 'up{job="lunas-worker",instance="b"}': '1x45' },
    firesAt: 20,
    isOverAt: 40,
  },
  LunasRoleMissing: {
    // The time of the last heartbeat: it stays at 10 minutes.
    series: { 'lunas_role_last_seen_timestamp_seconds{role="dashboard"}': '0+60x10 600x20 1800+60x30' },
    firesAt: 14,
    isOverAt: 32,
  },
  LunasGaugesMissing: { series: { lunas_recovery_mode: '0x10 _x20 0x30' }, firesAt: 19, isOverAt: 35 },
  LunasTemporalThrottles: {
    series: { 'temporal_request_failure_total{status_code="RESOURCE_EXHAUSTED"}': '0x10 0+60x30 1800x40' },
    firesAt: 30,
    isOverAt: 60,
  },
  LunasClockSkew: gauge('lunas_clock_offset_seconds', -3),
  LunasPostgresqlDown: up('postgresql'),
  LunasTemporalDown: up('temporal'),
  LunasRecoveryMode: gauge('lunas_recovery_mode', 1),
  LunasProviderFailing: {
    series: { [providerCalls('accepted')]: '0+80x100', [providerCalls('indeterminate')]: '0+20x30 600x70' },
    firesAt: 30,
    isOverAt: 33,
  },
  LunasBankFailing: {
    series: { [bankCalls('accepted')]: '0+1x100', [bankCalls('indeterminate')]: '0+2x30 60x70' },
    firesAt: 10,
    isOverAt: 35,
  },
  LunasNotificationsContradicted: {
    series: { 'lunas_notifications_contradicted_total{reported_status="paid"}': '0x10 1x90' },
    firesAt: 12,
    isOverAt: 40,
  },
  LunasNotificationsForged: {
    series: { 'lunas_notifications_received_total{outcome="invalid_signature"}': '0x10 0+1x6 6x90' },
    firesAt: 18,
    isOverAt: 40,
  },
  LunasPayloadsNotAuthentic: {
    series: { 'lunas_payloads_rejected_total{namespace="lunas"}': '0x10 1x90' },
    firesAt: 12,
    isOverAt: 40,
  },
  LunasAccountChanged: {
    series: { lunas_provider_accounts_changed: '1x30 2x90' },
    firesAt: 32,
    isOverAt: 60,
  },
  LunasSignInsFailing: {
    series: { 'lunas_sign_ins_failed_total{reason="credentials"}': '0x10 0+10x20 200x60' },
    firesAt: 25,
    isOverAt: 60,
  },
  LunasKeysRejected: {
    series: { 'lunas_keys_rejected_total{owner="operator"}': '0x10 0+1x20 20x60' },
    firesAt: 25,
    isOverAt: 60,
  },
  LunasProviderRejecting: {
    series: {
      [providerCalls('accepted')]: '0+100x10 1000x30 1000+100x60',
      [providerCalls('account_rejected')]: '0x10 0+100x30 3000x60',
    },
    firesAt: 15,
    isOverAt: 50,
  },
  LunasRelayLag: gauge('lunas_webhook_relay_lag_seconds', 61),
  LunasNotificationBacklog: gauge('lunas_notifications_oldest_open_age_seconds', 301),
  LunasNotificationsLost: {
    series: {
      'lunas_payment_transitions_total{transition="issue"}': '0+10x300',
      [confirmed('notification')]: '0+8x90 720x30 720+8x100',
      [confirmed('expiry')]: '0x300',
    },
    // Within ten minutes.
    firesAt: 100,
    isOverAt: 135,
  },
  LunasPaymentsOverdue: gauge('lunas_payments_needing_attention{reason="overdue"}', 1),
  LunasLedgerBreaks: gauge('lunas_ledger_breaks{verification="newest"}', 1),
  LunasAuditBreaks: gauge('lunas_audit_breaks{verification="newest"}', 1),
  LunasPaymentsNeedOperator: gauge('lunas_payments_needing_attention{reason="refund_failed"}', 1),
  LunasExceptionsOpen: gauge('lunas_exceptions_open{kind="paid_twice"}', 1),
  LunasPayoutsIndeterminate: gauge('lunas_payouts_needing_attention{reason="indeterminate"}', 1),
  LunasPayoutConflict: gauge('lunas_exceptions_open{kind="payout_conflict"}', 1),
  LunasSourceBalanceShort: gauge('lunas_exceptions_open{kind="payout_source_balance"}', 1),
  LunasPayoutsWait: gauge('lunas_payouts_needing_attention{reason="deferred"}', 1),
  LunasBankAccountsWait: gauge('lunas_bank_accounts_waiting{status="pending_approval",age="over_a_working_day"}', 1),
  LunasPayoutsRunFailed: gauge('lunas_run_last_failures{run="payouts"}', 1),
  // The time of the test starts at 0, and has a sample a minute: the run of the next day is two hours late.
  LunasPayoutsNotRequested: {
    series: { 'lunas_run_last_complete_timestamp_seconds{run="payouts"}': '0x1560 93600x100' },
    firesAt: 1_510,
    isOverAt: 1_570,
  },
  LunasDaysNotClosed: {
    series: { 'lunas_run_last_complete_timestamp_seconds{run="closing"}': '0x1600 96000x100' },
    firesAt: 1_570,
    isOverAt: 1_610,
  },
  LunasAuditNotVerified: {
    series: { lunas_audit_last_verification_timestamp_seconds: '0x150 9000x100' },
    firesAt: 110,
    isOverAt: 170,
  },
  LunasLedgerNotVerified: {
    series: { lunas_ledger_last_verification_timestamp_seconds: '0x1700 102000x100' },
    firesAt: 1_690,
    isOverAt: 1_720,
  },
  LunasReconciliationOverdue: {
    // The last run took half an hour: the limit is four hours.
    series: {
      lunas_reconciliation_last_success_timestamp_seconds: '0x320 19200x100',
      lunas_reconciliation_last_success_duration_seconds: '1800x420',
    },
    firesAt: 310,
    isOverAt: 330,
  },
  // A sample a minute: two days and an hour are 2,940 of them.
  LunasRetentionOverdue: {
    series: { lunas_retention_last_success_timestamp_seconds: '0x2960 177600x100' },
    firesAt: 2_945,
    isOverAt: 2_980,
  },
  LunasTotalsNotRecomputed: {
    series: { lunas_payment_totals_last_pass_timestamp_seconds: '0x2960 177600x100' },
    firesAt: 2_945,
    isOverAt: 2_980,
  },
  LunasWebhooksDead: {
    series: { 'lunas_webhook_deliveries_total{outcome="dead"}': '0x5 0+5x10 50x120' },
    firesAt: 20,
    isOverAt: 120,
  },
  LunasRequestsRateLimited: {
    series: {
      [requests('2xx')]: '0+90x120',
      [requests('4xx')]: '0+10x60 600x60',
      'lunas_http_requests_rejected_total{code="rate_limited"}': '0+10x60 600x60',
    },
    firesAt: 60,
    isOverAt: 90,
  },
  LunasDatabasePoolExhausted: gauge('lunas_database_pool_waiting{pool="requests",instance="a"}', 3),
  LunasEventLoopBlocked: gauge('lunas_event_loop_lag_seconds{statistic="p99",instance="a"}', 0.3),
  LunasWorkflowTasksSlow: {
    series: {
      [schedule('0.5')]: '0+90x40 3600+100x60',
      [schedule('1')]: '0+100x100',
      [schedule('+Inf')]: '0+100x100',
    },
    firesAt: 40,
    isOverAt: 60,
  },
  LunasWorkflowTasksFailing: {
    series: { 'temporal_workflow_task_execution_failed_total{workflow_type="payment"}': '0+1x40 40x60' },
    firesAt: 40,
    isOverAt: 60,
  },
  LunasWorkerSlotsExhausted: gauge(
    'temporal_worker_task_slots_available{worker_type="WorkflowWorker",task_queue="lunas-payments",instance="a"}',
    0,
    40,
  ),
};

/** Another cause of an alert. */
const FURTHER_SCENARIOS: readonly (readonly [alert: string, cause: string, scenario: Scenario])[] = [
  [
    'LunasAuditNotVerified',
    'new entries are verified, and the schedule of the whole chain is paused',
    {
      series: {
        lunas_audit_last_verification_timestamp_seconds: '0+60x1800',
        'lunas_run_last_complete_timestamp_seconds{run="audit_verification"}': '0x1700 102000x100',
      },
      firesAt: 1_690,
      isOverAt: 1_750,
    },
  ],
  [
    'LunasProviderRejecting',
    'an acquirer that rejects every order of two merchants, and names no reason in the account',
    {
      series: {
        [providerCalls('accepted')]: '0+100x10 1000x30 1000+100x60',
        [providerCalls('rejected')]: '0x10 0+100x30 3000x60',
        'lunas_provider_rejected_merchants{account="a"}': '0x10 2x30 0x60',
      },
      firesAt: 15,
      isOverAt: 50,
    },
  ],
  [
    'LunasNotificationsLost',
    'few payments, which only the query at their deadline finds paid',
    {
      series: {
        'lunas_payment_transitions_total{transition="issue"}': '0x200',
        [confirmed('notification')]: '0x30 0x60 0+1x60',
        [confirmed('expiry')]: '0x30 0+1x60 60x60',
      },
      firesAt: 40,
      isOverAt: 120,
    },
  ],
];

/** A value like `_x8` is missing: the worker starts again, or PostgreSQL is away. */
const GAPS: readonly (readonly [alert: string, series: string])[] = [
  ['LunasExceptionsOpen', 'lunas_exceptions_open{kind="paid_twice"}'],
  ['LunasPayoutsWait', 'lunas_payouts_needing_attention{reason="deferred"}'],
  ['LunasPaymentsNeedOperator', 'lunas_payments_needing_attention{reason="refund_failed"}'],
];

it.each(GAPS)('%s: a gap of its gauge does not begin its time again', (alert, series) => {
  // 30 minutes after the fifth one, and not after the gap.
  expect(runScenario(alert, { series: { [series]: '0x5 1x15 _x8 1x60 0x60' }, firesAt: 40, isOverAt: 120 })).toBe('');
});

/** What one merchant does, beside the payments of others. */
const MISTAKES: Readonly<Record<string, Scenario['series']>> = {
  'exceeds its rate limit': {
    [callerErrors('rate_limited')]: '0+50000x60',
    [requests('4xx')]: '0+50000x60',
    [creates('completed')]: '0+60x60',
  },
  'sends more concurrent creations than its share': {
    [creates('over_share')]: '0+50000x60',
    [requests('4xx')]: '0+50000x60',
    [creates('completed')]: '0+60x60',
  },
  'sends only invalid amounts': {
    [callerErrors('invalid_amount')]: '0+50000x60',
    [requests('4xx')]: '0+50000x60',
    [creates('completed')]: '0+60x60',
  },
  'alone creates payments in a quiet hour, four of which fail after ten seconds': {
    [requests('2xx')]: '0+1x60',
    [requests('5xx')]: '0x10 0+1x4 4x50',
    [created('2.5')]: '0+1x60',
    [creates('completed')]: '0+1x60',
    [creates('failed')]: '0x10 0+1x4 4x50',
  },
  'opens pages that fail': {
    [pages('5xx')]: '0+1x2 2x58',
    [requests('2xx')]: '0+100x60',
  },
  'sends only orders that the acquirer rejects': {
    [providerCalls('rejected')]: '0+5000x60',
    [creates('completed')]: '0+5000x60',
    'lunas_provider_rejected_merchants{account="a"}': '1x60',
  },
};

const PROCESSES_UP = {
  'up{job="lunas-api",instance="a"}': '1x60',
  'up{job="lunas-worker",instance="b"}': '1x60',
  lunas_recovery_mode: '0x60',
};

const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-rules-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface Expectation {
  readonly expr: string;
  readonly minute: number;
  readonly value: number;
}

function runScenario(alert: string, { series, firesAt, isOverAt }: Scenario): string {
  const isFiring = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
  return runPromtool(series, [
    { expr: `${isFiring} or vector(0)`, minute: 0, value: 0 },
    { expr: `${isFiring} > bool 0`, minute: firesAt, value: 1 },
    { expr: `${isFiring} or vector(0)`, minute: isOverAt, value: 0 },
  ]);
}

/** Every rule is evaluated at each interval: a test of hours or days would take minutes. */
function evaluationIntervalOf(expectations: readonly Expectation[]): string {
  const lastMinute = Math.max(...expectations.map(({ minute }) => minute));
  return lastMinute > LONG_MINUTES ? '5m' : '1m';
}

/** The output of promtool if the test fails, else nothing. JSON is valid YAML. */
function runPromtool(series: Scenario['series'], expectations: readonly Expectation[]): string {
  const file = path.join(directory, 'test.json');
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: expectations.map(({ expr, minute, value }) => ({
      expr,
      eval_time: `${minute}m`,
      exp_samples: [{ value }],
    })),
  };
  const evaluation = { rule_files: [RULES], evaluation_interval: evaluationIntervalOf(expectations) };
  writeFileSync(file, JSON.stringify({ ...evaluation, tests: [test] }));
  const { error, status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  if (error) throw new Error('promtool is missing: run scripts/install-test-tools.sh', { cause: error });
  return status === 0 ? '' : stdout + stderr;
}

it('each alert has a scenario', () => {
  expect(Object.keys(SCENARIOS).toSorted()).toEqual(ALERTS.toSorted());
});

it.each(Object.entries(SCENARIOS))('%s fires and clears', (alert, scenario) => {
  expect(runScenario(alert, scenario)).toBe('');
});

it.each(FURTHER_SCENARIOS)('%s fires and clears: %s', (alert, _cause, scenario) => {
  expect(runScenario(alert, scenario)).toBe('');
});

const NO_ALERT = 'none';

/** What may need an operator, and the only alert that fires for it. */
const ONLY_ALERTS: Readonly<Record<string, string>> = {
  'lunas_exceptions_open{kind="payout_amount"}': 'LunasPayoutConflict',
  'lunas_exceptions_open{kind="unknown_payout"}': 'LunasPayoutConflict',
  'lunas_exceptions_open{kind="payout_source_balance"}': 'LunasSourceBalanceShort',
  'lunas_exceptions_open{kind="unknown_order"}': 'LunasExceptionsOpen',
  'lunas_payouts_needing_attention{reason="indeterminate"}': 'LunasPayoutsIndeterminate',
  'lunas_payouts_needing_attention{reason="waiting_for_approval"}': 'LunasPayoutsWait',
  'lunas_payouts_needing_attention{reason="overdue"}': 'LunasPayoutsWait',
  'lunas_payouts_open{status="submitted"}': NO_ALERT,
  'lunas_bank_accounts_waiting{status="pending_approval",age="up_to_a_working_day"}': NO_ALERT,
};

it.each(Object.entries(ONLY_ALERTS))('the only alert of %s: %s', (series, alert) => {
  const firing = (names: string) => `count(ALERTS{alertstate="firing",alertname${names}}) or vector(0)`;
  const value = alert === NO_ALERT ? 0 : 1;
  const expectations = [
    { expr: firing('!=""'), minute: 59, value },
    { expr: firing(`="${alert}"`), minute: 59, value },
  ];
  expect(runPromtool({ ...PROCESSES_UP, [series]: '3x60' }, expectations)).toBe('');
});

it('a new installation has no alert on its first day', () => {
  const installed = (name: string) => [name, '0x1440'] as const;
  const series = Object.fromEntries([
    ['up{job="lunas-api",instance="a"}', '1x1440'],
    ['up{job="lunas-worker",instance="b"}', '1x1440'],
    ['lunas_recovery_mode', '0x1440'],
    ['lunas_role_last_seen_timestamp_seconds{role="api"}', '0+60x1440'],
    ...['payouts', 'closing', 'ledger_verification', 'audit_verification'].map((run) =>
      installed(`lunas_run_last_complete_timestamp_seconds{run="${run}"}`),
    ),
    installed('lunas_ledger_last_verification_timestamp_seconds'),
    installed('lunas_retention_last_success_timestamp_seconds'),
    installed('lunas_payment_totals_last_pass_timestamp_seconds'),
    // Its first run is within the hour.
    ['lunas_reconciliation_last_success_timestamp_seconds', '0x60 3600+60x1380'],
  ]);
  const expr = 'count(ALERTS{alertstate="firing"}) or vector(0)';
  expect(
    runPromtool(
      series,
      [60, 720, 1_435].map((minute) => ({ expr, minute, value: 0 })),
    ),
  ).toBe('');
});

it('errors of pages use no error budget of the API', () => {
  const series = { [requests('2xx')]: '0+100x60', [pages('5xx')]: '0+50x60' };
  expect(runPromtool(series, [{ expr: 'sum(lunas:http_requests:error_ratio_rate5m)', minute: 60, value: 0 }])).toBe('');
});

it.each(Object.entries(MISTAKES))('no page fires for one merchant that %s', (_mistake, series) => {
  const expr = 'count(ALERTS{alertstate="firing",severity="page"}) or vector(0)';
  const expectations = [5, 10, 30, 60].map((minute) => ({ expr, minute, value: 0 }));
  expect(runPromtool({ ...PROCESSES_UP, ...series }, expectations)).toBe('');
});
