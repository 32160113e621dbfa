import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { CLOUD_PRICE, DEFAULTS, parseMeasuredRun, PER_PAYMENT } from '../../bench/capacity/costs';
import { capacityOf, planCapacity } from '../../bench/capacity/model';
import { bottlenecksOf, comparisonOf, markdownOf, settingsOf, sizesOf } from '../../bench/capacity/report';
import { environmentSchema } from '../../src/config';
import { PACKAGE_ROOT } from '../../src/package-info';
import { readSection, writeSection } from '../support/marked-section';

const PAGE = 'docs/scale.md';
const RESULTS = 'bench/results/two-cores.json';
/** The model's assumption: at its full CPU a machine does what the CPU times allow. It waits a little, too. */
const TOLERANCE = 0.15;
const TIMEOUT_MS = 60_000;

const read = (file: string) => readFileSync(path.join(PACKAGE_ROOT, file), 'utf8');
const run = parseMeasuredRun(read(RESULTS), RESULTS);
const { benchmarks } = run.rounds;
const plans = [100, 1_000, 10_000].map((rate) => planCapacity(rate, benchmarks));
const [, thousand] = plans;
const capacity = capacityOf(run.machine.cores, benchmarks);

async function scale(...args: readonly string[]) {
  const command = [path.join('scripts', 'scale.mjs'), ...args];
  const options = { cwd: PACKAGE_ROOT, timeout: TIMEOUT_MS };
  return promisify(execFile)(process.execPath, command, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('the model', () => {
  it('computes for two cores the rates that the benchmark measured there', () => {
    const { create, lifecycle } = benchmarks;
    expect(Math.abs(capacity.createsPerSecond / create.perSecond.median - 1)).toBeLessThan(TOLERANCE);
    expect(Math.abs(capacity.lifecyclesPerSecond / lifecycle.perSecond.median - 1)).toBeLessThan(TOLERANCE);
  });

  it('plans the same machine for half of that', () => {
    const plan = planCapacity(capacity.lifecyclesPerSecond / 2, benchmarks);
    const cores = Object.values(plan.cores).reduce((sum, ofRole) => sum + ofRole, 0);
    // The benchmark's own generator and the sandbox use the rest. The plan adds two reads of each payment.
    expect(cores).toBeGreaterThan(0.9 * run.machine.cores);
    expect(cores).toBeLessThanOrEqual(run.machine.cores);
  });

  it('needs no less of anything at a higher rate', () => {
    const rates = [1, 10, 50, 62, 63, 100, 240, 1_000, 5_000, 50_000];
    const needs = rates.map((rate) => {
      const { cores, connections, temporal, cloud, storage } = planCapacity(rate, benchmarks);
      const counts = [temporal.historyShards, cloud.units, storage.gbPerDay];
      return [Object.values(cores), Object.values(connections), counts].flat();
    });
    for (const [index, need] of needs.entries()) {
      const before = needs[index - 1];
      expect(need.every((value, which) => before === undefined || value >= (before[which] ?? 0))).toBe(true);
    }
  });

  it('names the bottleneck that the lowest rate reaches first', () => {
    const rates = thousand?.bottlenecks.map(({ paymentsPerSecond }) => paymentsPerSecond) ?? [];
    expect(rates).toEqual(rates.toSorted((a, b) => a - b));
    const { bottlenecks, firstBottleneck } = planCapacity(1, benchmarks);
    expect(firstBottleneck).toEqual(bottlenecks.find(({ scope }) => scope === 'all payments'));
    const rate = firstBottleneck?.paymentsPerSecond ?? 0;
    const connections = (at: number) => planCapacity(at, benchmarks).connections.withoutPooler;
    expect(connections(0.95 * rate)).toBeLessThanOrEqual(DEFAULTS.postgresConnections.value);
    expect(connections(1.05 * rate)).toBeGreaterThan(DEFAULTS.postgresConnections.value);
  });

  it('bills a month of Temporal Cloud by tiers', () => {
    // 11.25 million actions are 525 dollars in Temporal's own example.
    const actionsPerPayment = PER_PAYMENT.actions.value * (1 + CLOUD_PRICE.fairnessPart);
    const rate = 11_250_000 / actionsPerPayment / 30 / 28_800;
    const { dollarsPerMonth } = planCapacity(rate, benchmarks).cloud;
    expect(dollarsPerMonth).toBeGreaterThan(525);
    expect(dollarsPerMonth).toBeLessThan(540);
  });
});

describe('the costs', () => {
  it('the costs of the model are the defaults of the configuration', () => {
    const defaultOf = (name: keyof typeof environmentSchema.shape) => environmentSchema.shape[name].parse(undefined);
    expect(DEFAULTS.poolSize.value).toBe(defaultOf('DATABASE_POOL_SIZE'));
    expect(DEFAULTS.relaySlots.value).toBe(defaultOf('RELAY_SLOTS'));
    expect(DEFAULTS.deletedAfterDays.value).toBe(defaultOf('WEBHOOK_RETENTION_DAYS'));
    expect(DEFAULTS.deletedAfterDays.value).toBe(defaultOf('NOTIFICATION_RETENTION_DAYS'));
    expect(DEFAULTS.merchantPerMinute.value).toBe(defaultOf('RATE_LIMIT_PER_MINUTE'));
  });

  it('the costs of the model are the disk space of docs/performance.md', () => {
    const page = read('docs/performance.md');
    const kilobytes = (row: string) => Number(new RegExp(`^\\| ${row} +\\| ([\\d.]+) +\\|$`, 'm').exec(page)?.[1]);
    const sum = (rows: readonly string[]) => rows.reduce((total, row) => total + kilobytes(row), 0);
    const deleted = ['webhook_deliveries', 'webhook_events', 'webhook_attempts', 'provider_notifications'];
    const kept = ['payments', 'payment_transitions', 'ledger_entries', 'ledger_postings'];
    expect(sum(deleted)).toBeCloseTo(PER_PAYMENT.deletedKb.value, 6);
    expect(sum(kept)).toBeCloseTo(PER_PAYMENT.keptKb.value, 6);
    expect(kilobytes('WAL')).toBe(PER_PAYMENT.walKb.value);
    expect(kilobytes("Temporal's SQLite")).toBe(PER_PAYMENT.temporalKb.value);
  });
});

describe('docs/scale.md', () => {
  it.each([
    ['sizes', () => sizesOf(plans)],
    ['settings', () => settingsOf(plans)],
    ['bottlenecks', () => (thousand ? bottlenecksOf(thousand) : [])],
    ['comparison', () => comparisonOf(run, capacity)],
  ])('docs/scale.md has the %s that the model computes (UPDATE_SCALE=1 writes them)', (name, rows) => {
    const section = { page: PAGE, kind: 'scale', name };
    const table = markdownOf(rows());
    if (process.env.UPDATE_SCALE === '1') writeSection(section, table);
    expect(readSection(section)).toBe(table);
  });
});

describe('npm run scale', () => {
  it('prints the sizes, the limits and the first bottleneck', async () => {
    const { code, stdout } = await scale('--payments-per-second', '1000', '--costs');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^payments a second at the peak +1,000$/m);
    expect(stdout).toMatch(/^history shards +256$/m);
    expect(stdout).toContain(`First bottleneck: ${thousand?.firstBottleneck?.name}`);
    expect(stdout).toMatch(/^stateTransitions +10 +test\/workflows\/budget\.test\.ts/m);
  });

  it('prints one JSON object with --json', async () => {
    const { stdout } = await scale('--payments-per-second', '1000', '--json');
    expect(JSON.parse(stdout)).toEqual({ ...thousand, check: capacity });
  });

  it('uses the CPU times of another result', async () => {
    const file = path.join(process.env.RUNNER_TEMP ?? '/tmp', `lunas-results-${process.pid}.json`);
    const slower = { ...run, machine: { cores: 4 } };
    writeFileSync(file, JSON.stringify(slower));
    const { stdout } = await scale('--payments-per-second', '1000', '--json', '--results', file);
    expect(JSON.parse(stdout).check).toEqual(capacityOf(4, benchmarks));
  });

  it.each([
    [[], /^error: required option '--payments-per-second <rate>' not specified$/],
    [['--payments-per-second', 'many'], /argument 'many' is invalid\. It is a number above 0 and up to 100000\.$/],
    [['--payments-per-second', '0'], /It is a number above 0 and up to 100000\.$/],
    [['--payments-per-second', '1', '--results', 'package.json'], /^error: package\.json is not a result of/],
    [['--payments-per-second', '1', '--results', 'absent.json'], /^error: absent\.json is not a result of/],
  ])('rejects %j with one sentence', async (args, message) => {
    const { code, stdout, stderr } = await scale(...args);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });
});
