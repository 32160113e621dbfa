import type { BenchmarkName } from './benchmarks';
import type { Reading } from './meter';
import { spreadOf, type Spread } from './statistics';

/** A round measures each benchmark once, so both sides of a ratio are measured in the same minute. */
export type Round = Readonly<Record<BenchmarkName, Reading>>;

interface Ratio {
  readonly title: string;
  readonly of: BenchmarkName;
  readonly to: BenchmarkName;
  /** Absent: a ratio of rates. Else of the CPU for each operation. */
  readonly unit?: 'CPU';
  /** With Temporal's dev server. */
  readonly target: number;
  readonly stretchTarget: number;
  /** With PostgreSQL as Temporal's persistence, if the targets differ. */
  readonly onPostgres?: { readonly target: number; readonly stretchTarget: number };
}

export const RATIOS: readonly Ratio[] = [
  {
    title: 'POST /payments ÷ no-op update-with-start',
    of: 'create',
    to: 'noop',
    target: 0.7,
    stretchTarget: 0.85,
  },
  {
    title: 'full lifecycle (paid, settled, webhooks delivered) ÷ bare lifecycle',
    of: 'lifecycle',
    to: 'bareLifecycle',
    target: 0.75,
    stretchTarget: 0.85,
  },
  {
    title: 'full lifecycle ÷ no-op',
    of: 'lifecycle',
    to: 'noop',
    target: 0.28,
    stretchTarget: 0.35,
    onPostgres: { target: 0.26, stretchTarget: 0.35 },
  },
  { title: 'GET /payments/:id ÷ bare http + pg select', of: 'get', to: 'bareGet', target: 0.48, stretchTarget: 0.6 },
  { title: 'idempotent replay ÷ GET', of: 'replay', to: 'get', target: 0.75, stretchTarget: 0.9 },
  {
    title: "CPU of a single create ÷ of a bulk's item",
    of: 'create',
    to: 'bulk',
    unit: 'CPU',
    target: 1.11,
    stretchTarget: 1.5,
  },
  { title: 'webhook deliveries ÷ bare undici POSTs', of: 'deliver', to: 'barePost', target: 0.4, stretchTarget: 0.5 },
];

export interface MeasuredRatio {
  readonly title: string;
  readonly measured: Spread;
  readonly target: number;
  readonly stretchTarget: number;
}

export function measuredRatios(rounds: readonly Partial<Round>[], isOnPostgres: boolean): MeasuredRatio[] {
  return RATIOS.flatMap(({ title, of, to, unit, onPostgres, ...onDevServer }) => {
    const { target, stretchTarget } = (isOnPostgres ? onPostgres : undefined) ?? onDevServer;
    const valueOf = unit === 'CPU' ? cpuMsOf : ({ perSecond }: Reading) => perSecond;
    const values = rounds.flatMap((round) => {
      const [mine, other] = [round[of], round[to]];
      return mine && other ? [valueOf(mine) / valueOf(other)] : [];
    });
    return values.length === 0 ? [] : [{ title, measured: spreadOf(values), target, stretchTarget }];
  });
}

/** The CPU of all processes but the load generator. */
function cpuMsOf({ cpuMs }: Reading): number {
  const others = Object.entries(cpuMs).filter(([name]) => name !== 'generator');
  return others.reduce((sum, [, milliseconds]) => sum + milliseconds, 0);
}
