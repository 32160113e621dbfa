import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { INVARIANT_NAMES } from '../../faults/invariants';
import { KILL_POINT_NAMES } from '../../faults/kill-points';
import { MUTANT_NAMES, MUTANTS } from '../../faults/mutants';
import { bySize } from '../../support/size';
import { testEnvironment } from '../../support/test-environment';

/** The same program as `npm run test:faults` (docs/proof.md). The small size has each kill point once. */
const KILLS = bySize({ small: KILL_POINT_NAMES.length, full: 600 });
/** The small plan kills each victim three times, among them the worker of payouts at K13 to K15 and at K19. */
const SEED = 1_492_131;
const RUN_TIMEOUT_MS = bySize({ small: 1_200_000, full: 10_800_000 });

const reportSchema = z.object({
  trials: z.array(z.object({ point: z.string(), outcome: z.string() })),
  results: z.record(z.string(), z.object({ checks: z.number(), violations: z.array(z.string()) })),
  caught: z.record(z.string(), z.string().nullable()),
});

const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-fault-report-'));
let report: z.infer<typeof reportSchema>;

beforeAll(async () => {
  const file = path.join(directory, 'report.json');
  const args = ['--seed', String(SEED), '--kills', String(KILLS), '--report', file];
  const run = spawn(process.execPath, [path.join(PACKAGE_ROOT, 'scripts', 'faults.mjs'), ...args], {
    env: { ...process.env, TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH') },
    stdio: 'ignore',
  });
  const stop = () => run.kill('SIGTERM');
  process.once('exit', stop);
  await once(run, 'close');
  process.off('exit', stop);
  report = reportSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}, RUN_TIMEOUT_MS);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

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

describe('the oracle detects the mutant', () => {
  it.each(MUTANT_NAMES)('%s', (mutant) => {
    expect(report.caught[mutant]).toMatch(new RegExp(`^(${MUTANTS[mutant].violates.join('|')}): `));
  });
});
