import { spreadOf, type Spread } from './statistics';
import type { Reading } from './meter';
import type { SubjectName } from './subjects';

/** A round has each subject once, so that both sides of a ratio were measured within a minute. */
export type Round = Readonly<Record<SubjectName, Reading>>;

interface Ratio {
  readonly title: string;
  readonly of: SubjectName;
  readonly to: SubjectName;
  /** On Temporal's embedded dev server. */
  readonly reach: number;
  readonly dream: number;
  /** On a Temporal server with PostgreSQL persistence, where that is another. */
  readonly onPostgres?: { readonly reach: number; readonly dream: number };
}

export const RATIOS: readonly Ratio[] = [
  {
    title: 'POST /payments ÷ no-op update-with-start',
    of: 'create',
    to: 'noop',
    reach: 0.6,
    dream: 1,
    onPostgres: { reach: 0.8, dream: 1.2 },
  },
  {
    title: 'lives, paid, settled and told ÷ no-op',
    of: 'life',
    to: 'noop',
    reach: 0.22,
    dream: 0.3,
    onPostgres: { reach: 0.28, dream: 0.4 },
  },
  { title: 'POST /payments ÷ DBOS create', of: 'create', to: 'dbosCreate', reach: 0.6, dream: 1 },
  { title: 'lives ÷ DBOS lives', of: 'life', to: 'dbosLife', reach: 0.35, dream: 0.6 },
  { title: 'GET /payments/:id ÷ bare http + pg select', of: 'get', to: 'bareGet', reach: 0.4, dream: 0.48 },
  { title: 'idempotent replay ÷ GET', of: 'replay', to: 'get', reach: 0.8, dream: 0.95 },
  { title: 'items of a bulk of 50 ÷ single creates', of: 'bulk', to: 'create', reach: 2, dream: 3 },
  { title: 'webhook deliveries ÷ bare undici POSTs', of: 'deliver', to: 'barePost', reach: 0.25, dream: 0.5 },
];

export interface MeasuredRatio {
  readonly title: string;
  readonly measured: Spread;
  readonly reach: number;
  readonly dream: number;
}

/** Each ratio within each round, and what the rounds have shown. */
export function measuredRatios(rounds: readonly Partial<Round>[], isOnPostgres: boolean): MeasuredRatio[] {
  return RATIOS.flatMap(({ title, of, to, onPostgres, ...embedded }) => {
    const { reach, dream } = (isOnPostgres ? onPostgres : undefined) ?? embedded;
    const values = rounds.flatMap((round) => {
      const [mine, other] = [round[of], round[to]];
      return mine && other ? [mine.perSecond / other.perSecond] : [];
    });
    return values.length === 0 ? [] : [{ title, measured: spreadOf(values), reach, dream }];
  });
}
