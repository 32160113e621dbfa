import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package';
import { testAddress } from '../support/addresses';
import { runMutant } from './mutant-trials';
import { MUTANT_NAMES, MUTANTS } from './mutants';
import { INVARIANT_NAMES } from './oracle';
import { KILL_POINT_NAMES } from './points';
import { Random } from './random';
import { describeRun } from './report';
import { runFaults } from './run';
import { Stack } from './stack';

/** The small size; the long run is `npm run test:faults` (docs/proof.md). */
const KILLS = 24;
const SEED = 20_261_121;

const random = new Random(SEED);
const compiledFolder = path.join(PACKAGE_ROOT, 'node_modules', '.cache', 'lunas', `compiled-${process.pid}`);
let stack: Stack;

beforeAll(async () => {
  execFileSync(process.execPath, [path.join(PACKAGE_ROOT, 'scripts', 'compile-typescript.mjs'), compiledFolder]);
  stack = await Stack.open({
    folder: mkdtempSync(path.join(os.tmpdir(), 'lunas-faults-')),
    compiledFolder,
    temporalBinary: testAddress('TEMPORAL_CLI_PATH'),
    workflowBundlePath: testAddress('WORKFLOW_BUNDLE_PATH'),
    webhookFails: () => random.chance(0.02),
  });
}, 120_000);

afterAll(async () => {
  await stack.close();
  rmSync(compiledFolder, { recursive: true, force: true });
}, 60_000);

describe('API, worker, PostgreSQL and Temporal', () => {
  it(`are killed ${KILLS} times in the middle of payments, and nothing is lost or done twice`, async () => {
    const report = await runFaults(stack, random, { kills: KILLS, customers: 3, losesTemporal: false, say: () => {} });
    const said = describeRun(report);
    expect({ said, fallen: INVARIANT_NAMES.filter((name) => report.verdicts[name].violations.length > 0) }).toEqual({
      said,
      fallen: [],
    });
    // A judge who looked at nothing finds nothing.
    for (const name of INVARIANT_NAMES) expect(report.verdicts[name].checks).toBeGreaterThan(0);
    const hits = report.trials.filter(({ end }) => end === 'hit');
    expect(hits.length).toBeGreaterThanOrEqual(KILLS * 0.8);
    expect(new Set(hits.map(({ point }) => point)).size).toBeGreaterThanOrEqual(KILL_POINT_NAMES.length - 2);
  }, 900_000);
});

describe('a service that is broken on purpose is found out', () => {
  it.each(MUTANT_NAMES)(
    '%s',
    async (mutant) => {
      const caught = await runMutant(stack, mutant);
      expect(caught).toMatch(new RegExp(`^(${MUTANTS[mutant].falls.join('|')}): `));
    },
    240_000,
  );
});
