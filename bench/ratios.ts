import { spreadOf, type Spread } from './statistics';
import type { Reading } from './meter';
import type { BenchmarkName } from './benchmarks';

/** A round measures each benchmark once, so both sides of a ratio are measured in the same minute. */
export type Round = Readonly<Record<BenchmarkName, Reading>>;

interface Ratio {
  readonly title: string;
  readonly of: BenchmarkName;
  readonly to: BenchmarkName;
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
    target: 0.6,
    stretchTarget: 1,
    onPostgres: { target: 0.8, stretchTarget: 1.2 },
  },
  {
    title: 'full lifecycle (paid, settled, webhooks delivered) ÷ no-op',
    of: 'lifecycle',
    to: 'noop',
    target: 0.22,
    stretchTarget: 0.3,
    onPostgres: { target: 0.28, stretchTarget: 0.4 },
  },
  { title: 'POST /payments ÷ DBOS create', of: 'create', to: 'dbosCreate', target: 0.6, stretchTarget: 1 },
  {
    title: 'full lifecycle ÷ DBOS full lifecycle',
    of: 'lifecycle',
    to: 'dbosLifecycle',
    target: 0.35,
    stretchTarget: 0.6,
  },
  { title: 'GET /payments/:id ÷ bare http + pg select', of: 'get', to: 'bareGet', target: 0.4, stretchTarget: 0.48 },
  { title: 'idempotent replay ÷ GET', of: 'replay', to: 'get', target: 0.8, stretchTarget: 0.95 },
  { title: 'items of a bulk of 50 ÷ single creates', of: 'bulk', to: 'create', target: 2, stretchTarget: 3 },
  { title: 'webhook deliveries ÷ bare undici POSTs', of: 'deliver', to: 'barePost', target: 0.25, stretchTarget: 0.5 },
];

export interface MeasuredRatio {
  readonly title: string;
  readonly measured: Spread;
  readonly target: number;
  readonly stretchTarget: number;
}

export function measuredRatios(rounds: readonly Partial<Round>[], isOnPostgres: boolean): MeasuredRatio[] {
  return RATIOS.flatMap(({ title, of, to, onPostgres, ...onDevServer }) => {
    const { target, stretchTarget } = (isOnPostgres ? onPostgres : undefined) ?? onDevServer;
    const values = rounds.flatMap((round) => {
      const [mine, other] = [round[of], round[to]];
      return mine && other ? [mine.perSecond / other.perSecond] : [];
    });
    return values.length === 0 ? [] : [{ title, measured: spreadOf(values), target, stretchTarget }];
  });
}
