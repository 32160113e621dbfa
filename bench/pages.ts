import type { BenchmarkHarness } from './harness';
import { oneAtATime, type BenchmarkOperation } from './load-generator';
import { Meter, type Reading } from './meter';
import { BenchmarkShop, type BenchmarkPage, type BenchmarkPageKind } from './shop';
import { median, percentile, spreadOf, type Spread } from './statistics';
import { measureUsers, type UsersResult } from './users';

/** Upper limits of the p95 of a page ÷ the p95 of `GET /payments/:id`. */
export const PAGE_TARGETS: Readonly<Record<BenchmarkPageKind, { target: number; stretchTarget: number }>> = {
  form: { target: 4, stretchTarget: 3 },
  checkout: { target: 4, stretchTarget: 3 },
  home: { target: 8, stretchTarget: 5 },
  list: { target: 10, stretchTarget: 7 },
  detail: { target: 10, stretchTarget: 7 },
};

export interface PageOptions {
  readonly rounds: number;
  /** How often each page is opened in a round. As many GETs are beside it. */
  readonly samples: number;
  /** How long creates are measured in a round, alone and beside the users. */
  readonly createSeconds: number;
}

export interface PageFigures extends Pick<BenchmarkPage, 'route' | 'kind'> {
  /** The p95 of the page ÷ that of the GET. */
  readonly ratio: Spread;
  /** Milliseconds of CPU for each page, by process; the median of the rounds. */
  readonly cpuMs: Readonly<Record<'dashboard' | 'api' | 'postgres', number>>;
}

export interface PagesResult {
  readonly pages: readonly PageFigures[];
  readonly users: UsersResult;
}

/** One page at a time beside one GET at a time, in alternating order; then creates beside a thousand users. */
export async function measurePages(
  harness: BenchmarkHarness,
  options: PageOptions,
  log: (line: string) => void,
): Promise<PagesResult> {
  const shop = await BenchmarkShop.open(harness);
  try {
    const pages = [await shop.checkoutPage(), ...shop.dashboardPages()];
    const measure = (operation: BenchmarkOperation) =>
      oneAtATime(operation, options.samples, new Meter(harness.processes));
    const measured = pages.map((page) => ({ page, pairs: new Array<Pair>() }));
    for (const { page } of measured) await measure(page.open);
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const { page, pairs } of measured) pairs.push(await measurePair(page, round));
      log(`pages: round ${round} of ${options.rounds}`);
    }
    return { pages: measured.map(figuresOf), users: await measureUsers(harness, shop, options, log) };

    async function measurePair(page: BenchmarkPage, round: number): Promise<Pair> {
      const [read, open] = [() => shop.read(), page.open];
      const [first, second] = round % 2 === 1 ? [read, open] : [open, read];
      const [one, other] = [await measure(first), await measure(second)];
      return first === read ? { read: one, opened: other } : { read: other, opened: one };
    }
  } finally {
    await shop.close();
  }
}

interface Pair {
  readonly read: Reading;
  readonly opened: Reading;
}

function figuresOf({ page, pairs }: { page: BenchmarkPage; pairs: readonly Pair[] }): PageFigures {
  const { route, kind } = page;
  const p95 = ({ latenciesMs }: Reading) => percentile(latenciesMs, 0.95);
  const cpuMsOf = (name: string) => median(pairs.map(({ opened }) => opened.cpuMs[name] ?? 0));
  return {
    route,
    kind,
    ratio: spreadOf(pairs.map(({ read, opened }) => p95(opened) / p95(read))),
    cpuMs: { dashboard: cpuMsOf('dashboard'), api: cpuMsOf('api'), postgres: cpuMsOf('postgres') },
  };
}
