import { TIMED_OPERATIONS, type TimedOperation } from './benchmarks';
import type { BurstResult } from './burst';
import type { IsolationFigures, IsolationResult } from './isolation';
import type { KillBillResult } from './kill-bill/compare';
import { killBillReport } from './kill-bill/report';
import { WEBHOOK_LOADS, type LatencyResult } from './latency';
import type { MemoryResult } from './memory';
import { PAGE_TARGETS, type PagesResult } from './pages';
import type { ProfileResult } from './profile';
import type { RoundsResult } from './rounds';
import type { ScaleResult } from './scale';
import type { StorageResult } from './storage';
import { oneDigit, table, whole } from './table';

/** The results of a run. A part that was not requested is absent. */
export interface Results {
  readonly startedAt: string;
  readonly commit: string;
  readonly machine: { readonly cores: number; readonly model: string; readonly node: string; readonly load: number };
  readonly latency?: LatencyResult;
  readonly rounds?: RoundsResult;
  /** The benchmarks that depend on Temporal's persistence, with a Temporal server on PostgreSQL. */
  readonly postgres?: RoundsResult;
  readonly scale?: ScaleResult;
  readonly burst?: BurstResult;
  readonly isolation?: IsolationResult;
  readonly pages?: PagesResult;
  readonly profile?: ProfileResult;
  readonly storage?: StorageResult;
  readonly memory?: MemoryResult;
  readonly killBill?: KillBillResult;
}

/** A ratio compared with its targets. */
type RatioResult = 'stretch target reached' | 'target reached' | 'missed';

/** The tables, in Markdown. */
export function reportOf({
  latency,
  rounds,
  postgres,
  scale,
  burst,
  isolation,
  pages,
  profile,
  storage,
  memory,
  killBill,
  ...about
}: Results): string {
  const { cores, model, node, load } = about.machine;
  return [
    `Lunas ${about.commit}, ${about.startedAt}: ${cores} × ${model}, Node.js ${node}, ` +
      `load average at the start ${load.toFixed(1)}`,
    ...(latency ? [latencyOf(latency)] : []),
    ...(rounds ? [ratiosOf(rounds), ratesOf(rounds), headroomOf(rounds)] : []),
    ...(postgres ? ['Temporal on PostgreSQL:', ratiosOf(postgres), ratesOf(postgres)] : []),
    ...(scale ? [scaleOf(scale)] : []),
    ...(burst ? [burstOf(burst)] : []),
    ...(isolation ? [isolationOf(isolation)] : []),
    ...(pages ? [pagesOf(pages), usersOf(pages)] : []),
    ...(profile ? [profileOf(profile)] : []),
    ...(storage ? [storageOf(storage)] : []),
    ...(memory ? [memoryOf(memory)] : []),
    ...(killBill ? [killBillReport(killBill)] : []),
  ].join('\n\n');
}

function latencyOf({ webhooks, ...latency }: LatencyResult): string {
  const titles = {
    noop: 'no-op update-with-start',
    create: 'POST /payments',
    paidToWebhook: "from the customer's payment to the merchant's webhook",
  } as const satisfies Record<TimedOperation, string>;
  const single = TIMED_OPERATIONS.map((name) => {
    const { p50Ms, p99Ms } = latency[name];
    const ratio = name === 'create' ? (p50Ms / latency.noop.p50Ms).toFixed(2) : '';
    return [titles[name], oneDigit(p50Ms), oneDigit(p99Ms), ratio];
  });
  const loaded = (['idle', 'busy'] as const).map((load) => {
    const { p50Ms, p99Ms } = webhooks[load];
    const ratio = load === 'busy' ? (p50Ms / webhooks.idle.p50Ms).toFixed(2) : '';
    return [`${WEBHOOK_LOADS[load]} payments a second`, oneDigit(p50Ms), oneDigit(p99Ms), ratio];
  });
  return [
    table(['One at a time', 'p50 ms', 'p99 ms', 'p50 ÷ no-op (target ≤ 1.7, stretch target 1.5)'], single),
    table(['From payment to webhook', 'p50 ms', 'p99 ms', 'p50 ÷ idle (target ≤ 1.2)'], loaded),
  ].join('\n\n');
}

function ratiosOf({ ratios, rounds }: RoundsResult): string {
  return table(
    [`Ratio (median of ${rounds} rounds)`, 'measured', 'range', 'target', 'stretch target', ''],
    ratios.map(({ title, measured, target, stretchTarget }) => [
      title,
      measured.median.toFixed(2),
      `${measured.min.toFixed(2)}–${measured.max.toFixed(2)}`,
      String(target),
      String(stretchTarget),
      resultOf(measured.median, target, stretchTarget),
    ]),
  );
}

function resultOf(measured: number, target: number, stretchTarget: number): RatioResult {
  if (measured >= stretchTarget) return 'stretch target reached';
  return measured >= target ? 'target reached' : 'missed';
}

const PROCESSES = ['api', 'worker', 'temporal', 'postgres', 'sandbox', 'noop', 'bare', 'poster', 'generator'];

function ratesOf({ benchmarks }: RoundsResult): string {
  const used = PROCESSES.filter((name) => Object.values(benchmarks).some(({ cpuMs }) => (cpuMs[name] ?? 0) > 0.01));
  return table(
    ['Benchmark', 'per s', 'range', 'p50 ms', 'p99 ms', ...used.map((name) => `${name}, CPU ms`)],
    Object.entries(benchmarks).map(([name, { perSecond, p50Ms, p99Ms, cpuMs }]) => {
      const rate = [whole(perSecond.median), `${whole(perSecond.min)}–${whole(perSecond.max)}`];
      const cpu = used.map((process) => (cpuMs[process] === undefined ? '' : cpuMs[process].toFixed(2)));
      return [name, rate, oneDigit(p50Ms), oneDigit(p99Ms), cpu].flat();
    }),
  );
}

function headroomOf({ headroom }: RoundsResult): string {
  return table(
    ['The generator alone could do', 'times the benchmark'],
    Object.entries(headroom).map(([name, factor]) => [name, oneDigit(factor)]),
  );
}

function scaleOf({ fewOpen, manyOpen, createsPerSecond, workerMegabytes, burst }: ScaleResult): string {
  return table(
    ['Open payments', 'measured', 'target'],
    [
      [
        `creates per s, ${whole(fewOpen)} → ${whole(manyOpen)} open`,
        `${whole(createsPerSecond.few)} → ${whole(createsPerSecond.many)}, ${createsPerSecond.ratio.toFixed(2)}`,
        '≥ 0.9',
      ],
      ['worker memory', `${whole(workerMegabytes.few)} → ${whole(workerMegabytes.many)} MB`, 'flat'],
      ...burstRows(burst),
    ],
  );
}

function burstOf(burst: BurstResult): string {
  return table(['Burst', 'measured', 'target'], burstRows(burst));
}

function burstRows({ expiring, inFullestSecond, left, ...burst }: BurstResult): string[][] {
  const { p99Ms, responses } = burst;
  const seconds = whole(burst.drainSeconds);
  return [
    [
      `${whole(expiring)} expire together (${whole(inFullestSecond)} in the fullest second): done in`,
      left === 0 ? `${seconds} s` : `not in ${seconds} s: ${whole(left)} left`,
      '≤ 300 s',
    ],
    [
      `creates' p99 at ${whole(burst.createsPerSecond)} a second, before → during`,
      `${whole(p99Ms.before)} → ${whole(p99Ms.during)} ms, ${p99Ms.ratio.toFixed(2)} ×`,
      '≤ 2 ×',
    ],
    [
      'creates: 201 · 429 · others; the slowest response',
      `${responses.created} · ${responses.rejected} · ${responses.others}; ${whole(responses.slowestMs)} ms`,
      '0 others',
    ],
  ];
}

function isolationOf({ receiver, provider }: IsolationResult): string {
  const row = (title: string, { healthy, hanging, slowdown, neighbourPerSecond }: IsolationFigures) => [
    `${title} (${neighbourPerSecond} creates a second)`,
    `${whole(healthy.perSecond)} → ${whole(hanging.perSecond)}`,
    `${whole(healthy.p50Ms)} → ${whole(hanging.p50Ms)} ms`,
    `${whole(healthy.p99Ms)} → ${whole(hanging.p99Ms)} ms`,
    `${whole(healthy.deliveryP99Ms)} → ${whole(hanging.deliveryP99Ms)} ms`,
    `${slowdown.toFixed(2)} ×`,
    '≤ 1.2 ×',
  ];
  return table(
    ['A neighbour that hangs', "others' creates per s", 'p50', 'p99', "others' webhooks p99", 'slower by', 'target'],
    [row('receiver', receiver), row('provider account', provider)],
  );
}

function pagesOf({ pages }: PagesResult): string {
  return table(
    ['p95 ÷ p95 of GET /payments/:id', 'kind', 'measured', 'range', 'target', '', 'server, CPU ms', 'postgres, CPU ms'],
    pages.map(({ route, kind, ratio, cpuMs }) => {
      const { target, stretchTarget } = PAGE_TARGETS[kind];
      const range = `${oneDigit(ratio.min)}–${oneDigit(ratio.max)}`;
      const result = resultOf(-ratio.median, -target, -stretchTarget);
      const cpu = [cpuMs.dashboard + cpuMs.api, cpuMs.postgres].map((milliseconds) => milliseconds.toFixed(2));
      return [route, kind, oneDigit(ratio.median), range, `≤ ${target}`, result, ...cpu];
    }),
  );
}

function usersOf({ users }: PagesResult): string {
  const { alonePerSecond, besidePerSecond, ratio, failures, dashboardCpuMsPerSecond } = users;
  const rates = `${whole(alonePerSecond.median)} → ${whole(besidePerSecond.median)}`;
  const measured = `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`;
  return table(
    ['A thousand users of the dashboard', 'measured', 'target'],
    [
      ['creates per s, without → with them', `${rates}, ${measured}`, '≥ 0.9'],
      ['CPU of the dashboard for each second', `${whole(dashboardCpuMsPerSecond)} ms`, ''],
      ['pages that were not shown', String(failures), '0'],
    ],
  );
}

function profileOf(profile: ProfileResult): string {
  return profile
    .map(({ benchmark, process, totalMs, parts }) =>
      table(
        [`${benchmark}, CPU of the ${process}: ${totalMs.toFixed(2)} ms`, 'ms', 'part'],
        parts.map(({ where, ms }) => [where, ms.toFixed(3), `${((ms / totalMs) * 100).toFixed(1)} %`]),
      ),
    )
    .join('\n\n');
}

function storageOf({ tablesKb, walKb, temporalKb, lifecycles }: StorageResult): string {
  const tables = Object.entries(tablesKb).toSorted(([, a], [, b]) => b - a);
  const all = tables.reduce((sum, [, kilobytes]) => sum + kilobytes, 0);
  return table(
    [`On disk for each lifecycle (${lifecycles} lifecycles)`, 'kB'],
    [...tables, ['all tables', all] as const, ['WAL', walKb] as const, ["Temporal's SQLite", temporalKb] as const].map(
      ([name, kilobytes]) => [name, oneDigit(kilobytes)],
    ),
  );
}

function memoryOf(memory: MemoryResult): string {
  return table(
    ['Memory under a steady load', 'MB, middle third', 'MB, last third', 'growth (target ≤ 1.1)'],
    Object.entries(memory).map(([name, { middle, last }]) => [
      name,
      whole(middle),
      whole(last),
      (last / middle).toFixed(2),
    ]),
  );
}
