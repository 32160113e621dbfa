import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

const RULES = path.join(PACKAGE_ROOT, 'deploy', 'prometheus', 'rules.yaml');
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
const schedule = (bound: string) =>
  `temporal_workflow_task_schedule_to_start_latency_seconds_bucket{task_queue="lunas-payments",le="${bound}"}`;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  LunasApiErrors: { series: errors(10, 30), firesAt: 30, isOverAt: 100 },
  LunasApiErrorsSlowBurn: { series: errors(1, 300), firesAt: 300, isOverAt: 720 },
  LunasCreatesSlow: { series: slowCreates(50, 30), firesAt: 30, isOverAt: 100 },
  LunasCreatesSlowBurn: { series: slowCreates(5, 300), firesAt: 300, isOverAt: 720 },
  LunasProcessDown: {
    series: { 'up{job="lunas-api",instance="a"}': '1x5 0x20 1x20', 'up{job="lunas-worker",instance="b"}': '1x45' },
    firesAt: 20,
    isOverAt: 40,
  },
  LunasPostgresqlDown: up('postgresql'),
  LunasTemporalDown: up('temporal'),
  LunasProviderFailing: {
    series: { [providerCalls('accepted')]: '0+80x100', [providerCalls('indeterminate')]: '0+20x30 600x70' },
    firesAt: 30,
    isOverAt: 50,
  },
  LunasRelayLag: gauge('lunas_webhook_relay_lag_seconds', 61),
  LunasNotificationBacklog: gauge('lunas_notifications_oldest_open_age_seconds', 301),
  LunasPaymentsOverdue: gauge('lunas_payments_needing_attention{reason="overdue"}', 1),
  LunasLedgerBreaks: gauge('lunas_ledger_breaks{verification="newest"}', 1),
  LunasPaymentsNeedOperator: gauge('lunas_payments_needing_attention{reason="refund_failed"}', 1),
  LunasExceptionsOpen: gauge('lunas_exceptions_open{kind="paid_twice"}', 1),
  // The time of the test starts at 0.
  LunasLedgerNotVerified: {
    series: { lunas_ledger_last_verification_timestamp_seconds: '0x1700 102000x100' },
    firesAt: 1_690,
    isOverAt: 1_720,
  },
  LunasReconciliationOverdue: {
    series: { lunas_reconciliation_last_success_timestamp_seconds: '0x300 18000x100' },
    firesAt: 290,
    isOverAt: 320,
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

const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-rules-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The output of promtool if the test fails, else nothing. JSON is valid YAML. */
function runPromtool(alert: string, { series, firesAt, isOverAt }: Scenario): string {
  const file = path.join(directory, `${alert}.json`);
  const isFiring = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      { expr: `${isFiring} or vector(0)`, eval_time: '0m', exp_samples: [{ value: 0 }] },
      { expr: `${isFiring} > bool 0`, eval_time: `${firesAt}m`, exp_samples: [{ value: 1 }] },
      { expr: `${isFiring} or vector(0)`, eval_time: `${isOverAt}m`, exp_samples: [{ value: 0 }] },
    ],
  };
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [test] }));
  const { error, status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  if (error) throw new Error('promtool is missing: run scripts/install-test-tools.sh', { cause: error });
  return status === 0 ? '' : stdout + stderr;
}

it('each alert has a scenario', () => {
  expect(Object.keys(SCENARIOS).toSorted()).toEqual(ALERTS.toSorted());
});

it.each(Object.entries(SCENARIOS))('%s fires and clears', (alert, scenario) => {
  expect(runPromtool(alert, scenario)).toBe('');
});
