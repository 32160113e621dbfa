import { ASSUMPTIONS, CLOUD_PRICE, DEFAULTS, PER_PAYMENT, type MeasuredRun } from './costs';
import type { CapacityPlan, MachineCapacity } from './model';

type Row = readonly string[];

const exact = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 2 });
const rounded = (value: number): string =>
  Number(value.toPrecision(2)).toLocaleString('en-US', { maximumSignificantDigits: 2 });
const dollars = (value: number): string => `$${rounded(value)}`;
const gigabytes = (value: number): string => (value < 1_000 ? `${rounded(value)} GB` : `${rounded(value / 1_000)} TB`);

/** What a plan needs: a label, and its value. */
const SIZES: readonly (readonly [label: string, value: (plan: CapacityPlan) => string])[] = [
  ['API: cores (processes)', ({ cores, processes }) => `${rounded(cores.api)} (${processes.api})`],
  [
    'workers `payments`: cores (processes)',
    ({ cores, processes }) => `${rounded(cores.payments)} (${processes.payments})`,
  ],
  ['workers `relay`: cores (processes)', ({ cores, processes }) => `${rounded(cores.relay)} (${processes.relay})`],
  [
    'workers `webhooks` and `sweeper`: processes',
    ({ processes }) =>
      processes.webhooks === 0 ? 'the workers above have all roles' : `${processes.webhooks} + ${processes.sweeper}`,
  ],
  ["Temporal's services: cores", ({ cores }) => rounded(cores.temporal)],
  ['PostgreSQL of Lunas: cores', ({ cores }) => rounded(cores.postgres)],
  ['connections of PostgreSQL without a pooler', ({ connections }) => exact(connections.withoutPooler)],
  ['`default_pool_size` of a PgBouncer', ({ connections }) => exact(connections.withPooler)],
  ['statements a second', ({ statementsPerSecond }) => exact(statementsPerSecond)],
  ['webhooks a second', ({ webhooksPerSecond }) => exact(webhooksPerSecond)],
  ['state transitions a second at Temporal', ({ temporal }) => exact(temporal.transitionsPerSecond)],
  ["requests a second at Temporal's frontend", ({ temporal }) => exact(temporal.requestsPerSecond)],
  ['history shards', ({ temporal }) => exact(temporal.historyShards)],
  ["Temporal's storage", ({ temporal }) => gigabytes(temporal.storedGb)],
  ['payments a day', ({ storage }) => rounded(storage.paymentsPerDay)],
  ['PostgreSQL a day', ({ storage }) => gigabytes(storage.gbPerDay)],
  ['PostgreSQL after a year, nothing deleted', ({ storage }) => gigabytes(storage.gbPerYear)],
  ['PostgreSQL after a year, with the retention', ({ storage }) => gigabytes(storage.gbAfterYear)],
  ['WAL a day', ({ storage }) => gigabytes(storage.walGbPerDay)],
  ['Temporal Cloud: actions a second', ({ cloud }) => exact(cloud.actionsPerSecond)],
  ['Temporal Cloud: resource units', ({ cloud }) => exact(cloud.units)],
  ['Temporal Cloud: billed actions of a payment', ({ cloud }) => exact(cloud.billedActionsPerPayment)],
  ['Temporal Cloud: price of a payment', ({ cloud }) => dollars(cloud.dollarsPerPayment)],
  ['Temporal Cloud: price of a month', ({ cloud }) => dollars(cloud.dollarsPerMonth)],
];

const perSecond = ({ paymentsPerSecond }: { readonly paymentsPerSecond: number }): string => exact(paymentsPerSecond);

/** The sizes: one column for each plan. */
export function sizesOf(plans: readonly CapacityPlan[]): Row[] {
  const heading = ['payments a second at the peak', ...plans.map(perSecond)];
  return [heading, ...SIZES.map(([label, value]) => [label].concat(plans.map(value)))];
}

/** The limits of Temporal's own services: the value to set for each plan. */
export function settingsOf(plans: readonly CapacityPlan[]): Row[] {
  const heading = ['setting of each host', 'default', 'hosts', ...plans.map((plan) => `at ${perSecond(plan)}`)];
  const [first] = plans;
  const rows = (first?.settings ?? []).map(({ setting, default: standard, hosts }, index) =>
    [setting, exact(standard), exact(hosts)].concat(plans.map(({ settings }) => valueOf(settings[index]))),
  );
  return [heading, ...rows];
}

function valueOf(setting: CapacityPlan['settings'][number] | undefined): string {
  if (!setting) return '';
  const { value, neededPerHost, default: standard } = setting;
  return value === standard ? `stays (${exact(neededPerHost)})` : exact(value);
}

/** In the order in which a growing rate reaches them. */
export function bottlenecksOf({ bottlenecks }: CapacityPlan): Row[] {
  const heading = ['payments a second', 'bottleneck', 'remedy'];
  return [heading, ...bottlenecks.map(({ name, remedy, ...at }) => [perSecond(at), name, remedy])];
}

/** CPU of one payment, and what the model multiplies it with. */
export function costsOf({ cpuMs }: CapacityPlan, run: MeasuredRun): Row[] {
  const source = `bench/results, commit ${run.commit}, ${run.startedAt.slice(0, 10)}`;
  const cpu = Object.entries(cpuMs).map(([role, ms]) => [`CPU of ${role}, ms`, exact(ms), source]);
  const figures = Object.entries({ ...PER_PAYMENT, ...DEFAULTS, ...ASSUMPTIONS });
  const others = figures.map(([name, { value, source: from }]) => [name, exact(value), from]);
  const price = ['Temporal Cloud', 'tiers', CLOUD_PRICE.source];
  return [['figure', 'value', 'source'], ...cpu, ...others, price];
}

/** What the recorded machine did, and what the model computes for its cores. */
export function comparisonOf(run: MeasuredRun, capacity: MachineCapacity): Row[] {
  const { create, lifecycle } = run.rounds.benchmarks;
  const row = (name: string, computed: number, { median }: { readonly median: number }): Row => [
    name,
    rounded(computed),
    rounded(median),
    (computed / median).toFixed(2),
  ];
  return [
    [`${capacity.cores} cores`, 'computed', 'measured', 'computed ÷ measured'],
    row('creates a second', capacity.createsPerSecond, create.perSecond),
    row('whole payments a second', capacity.lifecyclesPerSecond, lifecycle.perSecond),
  ];
}

/** @returns a Markdown table, as Prettier formats it */
export function markdownOf([heading = [], ...rows]: readonly Row[]): string {
  const widths = heading.map((_, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: Row): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(heading), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** @returns columns for a terminal */
export function textOf(rows: readonly Row[]): string {
  const plain = rows.map((row) => row.map((cell) => cell.replaceAll('`', '')));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...plain.map((row) => (row[column] ?? '').length)));
  const lines = plain.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}
