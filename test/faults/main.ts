import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../../src/config';
import { findTemporalCli } from '../../src/embedded/engine-binaries';
import { Progress } from '../../src/embedded/progress';
import { onStopSignal } from '../../src/embedded/stop-signals';
import { PACKAGE_ROOT } from '../../src/package';
import { runMutant } from './mutant-trials';
import { MUTANT_NAMES, MUTANTS, type Mutant } from './mutants';
import { Random } from './random';
import { describeRun } from './report';
import { countOf, runFaults } from './run';
import { Stack } from './stack';

const CUSTOMERS = 4;
const INTERRUPTED = 130;

/** The long run (`npm run test:faults`). Exit code 1 where an invariant fell, or a mutant was not caught. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      kills: { type: 'string', default: '600' },
      'compiled-folder': { type: 'string', default: '' },
      'workflow-bundle': { type: 'string', default: '' },
      report: { type: 'string' },
    },
  });
  const [seed, kills] = [Number(values.seed), Number(values.kills)];
  if (!Number.isInteger(seed) || !Number.isInteger(kills) || kills < 0) {
    throw new Error('Usage: npm run test:faults -- [--seed WHOLE_NUMBER] [--kills COUNT]');
  }
  const random = new Random(seed);
  const progress = new Progress();
  const say = (line: string) => progress.say(line);
  const heading = `seed ${seed}, ${kills} kills, commit ${commit()}`;
  say(heading);
  const stack = await Stack.open({
    folder: mkdtempSync(path.join(os.tmpdir(), 'lunas-faults-')),
    compiledFolder: values['compiled-folder'],
    workflowBundlePath: values['workflow-bundle'],
    temporalBinary: await findTemporalCli(loadConfig(), progress, new AbortController().signal),
    webhookFails: () => random.chance(0.02),
  });
  try {
    const report = await runFaults(stack, random, { kills, customers: CUSTOMERS, losesTemporal: true, say });
    console.log(`${heading}\n${describeRun(report)}`);
    console.log('\nServices that are broken on purpose');
    const caught = new Map<Mutant, string | null>();
    for (const mutant of MUTANT_NAMES) {
      caught.set(mutant, await runMutant(stack, mutant));
      console.log(`${mutant}, ${MUTANTS[mutant].broken}: ${caught.get(mutant) ?? 'NOT FOUND OUT'}`);
    }
    const isWell = countOf(report.verdicts) === 0 && [...caught.values()].every((violation) => violation !== null);
    process.exitCode = isWell ? 0 : 1;
    if (values.report !== undefined) {
      const { trials, verdicts } = report;
      writeFileSync(values.report, JSON.stringify({ trials, verdicts, caught: Object.fromEntries(caught) }));
    }
  } finally {
    await stack.close();
  }
}

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: PACKAGE_ROOT, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' with changes');
  } catch {
    return 'unknown';
  }
}

// What was started ends with this process.
const interrupt = () => {
  console.error('Interrupted.');
  process.exit(INTERRUPTED);
};
onStopSignal(interrupt, interrupt);
main().then(
  // The SDK's native threads keep no process alive, but timers of its might.
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
