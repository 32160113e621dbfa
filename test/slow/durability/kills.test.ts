import { z } from 'zod';
import { INVARIANT_NAMES } from '../../faults/invariants';
import { KILL_POINT_NAMES } from '../../faults/kill-points';
import { bySize } from '../../support/size';
import { runFaultSuite } from '../single-trial';

/** The same program as `npm run test:faults` (docs/proof.md). The small size has each kill point once. */
const KILLS = bySize({ small: KILL_POINT_NAMES.length, full: 600 });
/** The small plan kills each victim three times, among them the worker of payouts at K13 to K15 and at K19. */
const SEED = 1_492_131;
const RUN_TIMEOUT_MS = bySize({ small: 1_200_000, full: 10_800_000 });

const reportSchema = z.object({
  trials: z.array(z.object({ point: z.string(), outcome: z.string() })),
  results: z.record(z.string(), z.object({ checks: z.number(), violations: z.array(z.string()) })),
});

let report: z.infer<typeof reportSchema>;

beforeAll(async () => {
  const options = ['--only', 'kills', '--seed', String(SEED), '--kills', String(KILLS)];
  report = reportSchema.parse(await runFaultSuite(options));
}, RUN_TIMEOUT_MS);

describe(`after ${KILLS} kills of API, workers, PostgreSQL and Temporal during payments and payouts`, () => {
  it.each(INVARIANT_NAMES)('%s holds', (name) => {
    const result = report.results[name];
    expect(result?.violations).toEqual([]);
    // An oracle without data finds nothing.
    expect(result?.checks).toBeGreaterThan(0);
  });

  it('nearly every kill point was hit', () => {
    const hits = report.trials.filter(({ outcome }) => outcome === 'hit');
    expect(hits.length).toBeGreaterThanOrEqual(KILLS * 0.8);
    expect(new Set(hits.map(({ point }) => point)).size).toBeGreaterThanOrEqual(KILL_POINT_NAMES.length - 2);
  });
});
