import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { findTemporalBinary } from '../../src/local-stack/find-temporal-binary';
import { loadLocalStackConfig } from '../../src/local-stack/local-stack-config';
import { Progress } from '../../src/local-stack/progress';
import { onStopSignal } from '../../src/local-stack/stop-signals';
import { TEMPORAL_CLI } from '../../src/local-stack/temporal-binaries';
import { PACKAGE_ROOT } from '../../src/package-info';
import { Journal } from './journal';
import { runMutant } from './mutant-trials';
import { MUTANT_NAMES, MUTANTS, type Mutant } from './mutants';
import { PayoutJournal } from './payout-journal';
import { Random } from './random';
import { describeRun } from './report';
import { countOf, runFaults } from './run';
import { SINGLE_TRIALS, type SingleTrial } from './single-trials';
import { FaultStack } from './stack';

const CUSTOMERS = 4;
const INTERRUPTED = 130;

/** The long run (`npm run test:faults`). Exit code 1 if an invariant was violated, or a mutant was not detected. */
async function main(): Promise<void> {
  const { seed, kills, ...given } = readOptions();
  const random = new Random(seed);
  const progress = new Progress();
  const log = (line: string) => progress.log(line);
  const heading = `seed ${seed}, ${given.only ?? `${kills} kills`}, commit ${commit()}`;
  log(heading);
  const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-faults-'));
  let keepsDirectory = false;
  process.once('exit', () => keepsDirectory || rmSync(directory, { recursive: true, force: true }));
  const stack = await FaultStack.open({
    directory,
    compiledDirectory: given.compiledDirectory,
    workflowBundlePath: given.workflowBundle,
    temporalBinary: await findTemporalBinary(
      TEMPORAL_CLI,
      loadLocalStackConfig(),
      progress,
      new AbortController().signal,
    ),
    webhookFails: () => random.chance(0.02),
  });
  try {
    const reports: object[] = [];
    for (const part of given.only === undefined ? PARTS : [given.only]) {
      const { report, hasViolations, hasPassed } = await runPart(part, { stack, random, kills, heading, log });
      reports.push(report);
      keepsDirectory ||= hasViolations;
      if (!hasPassed) process.exitCode = 1;
    }
    if (keepsDirectory) log(`logs and databases are in ${directory}`);
    if (given.report !== undefined) writeFileSync(given.report, JSON.stringify(Object.assign({}, ...reports)));
  } finally {
    await stack.close();
  }
}

const PARTS = ['kills', 'mutants'] as const;
type Part = (typeof PARTS)[number];

interface PartOptions {
  readonly stack: FaultStack;
  readonly random: Random;
  readonly kills: number;
  readonly heading: string;
  readonly log: (line: string) => void;
}

interface PartResult {
  readonly report: object;
  /** The service that is not broken on purpose has some. */
  readonly hasViolations: boolean;
  readonly hasPassed: boolean;
}

async function runPart(part: Part | SingleTrial, options: PartOptions): Promise<PartResult> {
  if (part === 'kills') return await runKills(options);
  if (part === 'mutants') return await runMutants(options);
  const { stack, random } = options;
  const violations = await SINGLE_TRIALS[part]({ stack, journal: new Journal(), random, hasPayouts: false });
  console.log(violations.length === 0 ? `${part}: no violations` : violations.join('\n'));
  return { report: { violations }, hasViolations: violations.length > 0, hasPassed: violations.length === 0 };
}

async function runKills({ stack, random, kills, heading, log }: PartOptions): Promise<PartResult> {
  const run = await runFaults(stack, random, { kills, customers: CUSTOMERS, losesTemporal: true, log });
  console.log(`${heading}\n${describeRun(run)}`);
  const { trials, results } = run;
  const hasViolations = countOf(results) > 0;
  return { report: { trials, results }, hasViolations, hasPassed: !hasViolations };
}

async function runMutants({ stack }: PartOptions): Promise<PartResult> {
  console.log('\nServices that are broken on purpose');
  const caught = new Map<Mutant, string | null>();
  const payouts = new PayoutJournal();
  for (const mutant of MUTANT_NAMES) {
    caught.set(mutant, await runMutant(stack, payouts, mutant));
    console.log(`${mutant}, ${MUTANTS[mutant].broken}: ${caught.get(mutant) ?? 'NOT DETECTED'}`);
  }
  const hasPassed = [...caught.values()].every((violation) => violation !== null);
  return { report: { caught: Object.fromEntries(caught) }, hasViolations: false, hasPassed };
}

interface Options {
  readonly only?: Part | SingleTrial;
  readonly seed: number;
  readonly kills: number;
  readonly report?: string;
  readonly compiledDirectory: string;
  readonly workflowBundle: string;
}

function readOptions(): Options {
  return (
    new Command('npm run test:faults --')
      .description(
        'Kills API, workers, PostgreSQL and Temporal during payments and payouts, and evaluates the invariants ' +
          '(docs/proof.md).',
      )
      .option(
        '--seed <number>',
        'decides which process is killed at which point',
        wholeNumber,
        Math.floor(Math.random() * 1e9),
      )
      .option('--kills <count>', 'number of kills; about 4 s each, and three minutes for the mutants', wholeNumber, 600)
      .addOption(
        new Option('--only <part>', 'the kills, the mutants, or one trial of the slow tests').choices([
          ...PARTS,
          ...Object.keys(SINGLE_TRIALS),
        ]),
      )
      .option('--report <file>', 'write the trials and results to this file as JSON')
      // Set by scripts/faults.mjs.
      .addOption(new Option('--compiled-directory <directory>').makeOptionMandatory().hideHelp())
      .addOption(new Option('--workflow-bundle <file>').makeOptionMandatory().hideHelp())
      .parse()
      .opts<Options>()
  );
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a whole number');
  return Number(text);
}

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: PACKAGE_ROOT, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' with changes');
  } catch {
    return 'unknown';
  }
}

// The child processes end with this process.
const interrupt = () => {
  console.error('Interrupted.');
  process.exit(INTERRUPTED);
};
onStopSignal(interrupt, interrupt);
main().then(
  // Timers of Temporal's SDK could keep the process running.
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
