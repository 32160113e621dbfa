import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../src/config';
import { findTemporalCli } from '../../src/local-stack/find-temporal-binary';
import { Progress } from '../../src/local-stack/progress';
import { onStopSignal } from '../../src/local-stack/stop-signals';
import { PACKAGE_ROOT } from '../../src/package-info';
import { Journal } from './journal';
import { runMutant } from './mutant-trials';
import { MUTANT_NAMES, MUTANTS, type Mutant } from './mutants';
import { Random } from './random';
import { describeRun } from './report';
import { countOf, runFaults } from './run';
import { SINGLE_TRIALS, type SingleTrial } from './single-trials';
import { FaultStack } from './stack';

const CUSTOMERS = 4;
const INTERRUPTED = 130;

/** The long run (`npm run test:faults`). Exit code 1 where an invariant fell, or a mutant was not caught. */
async function main(): Promise<void> {
  const { seed, kills, ...given } = readOptions();
  const random = new Random(seed);
  const progress = new Progress();
  const log = (line: string) => progress.log(line);
  const heading = `seed ${seed}, ${given.only ?? `${kills} kills`}, commit ${commit()}`;
  log(heading);
  const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-faults-'));
  let isKept = false;
  process.once('exit', () => isKept || rmSync(directory, { recursive: true, force: true }));
  const stack = await FaultStack.open({
    directory,
    compiledDirectory: given.compiledDirectory,
    workflowBundlePath: given.workflowBundle,
    temporalBinary: await findTemporalCli(loadConfig(), progress, new AbortController().signal),
    webhookFails: () => random.chance(0.02),
  });
  try {
    if (given.only !== undefined) {
      isKept = await runOnly(stack, random, given.only, given.report);
      if (isKept) log(`logs and databases are kept in ${directory}`);
      return;
    }
    const report = await runFaults(stack, random, { kills, customers: CUSTOMERS, losesTemporal: true, log });
    console.log(`${heading}\n${describeRun(report)}`);
    console.log('\nServices that are broken on purpose');
    const caught = new Map<Mutant, string | null>();
    for (const mutant of MUTANT_NAMES) {
      caught.set(mutant, await runMutant(stack, mutant));
      console.log(`${mutant}, ${MUTANTS[mutant].broken}: ${caught.get(mutant) ?? 'NOT DETECTED'}`);
    }
    isKept = countOf(report.results) > 0;
    if (isKept) log(`logs and databases are kept in ${directory}`);
    const hasPassed = !isKept && [...caught.values()].every((violation) => violation !== null);
    process.exitCode = hasPassed ? 0 : 1;
    if (given.report !== undefined) {
      const { trials, results } = report;
      writeFileSync(given.report, JSON.stringify({ trials, results, caught: Object.fromEntries(caught) }));
    }
  } finally {
    await stack.close();
  }
}

/** A trial that the long run has not, or one of it alone. @returns whether something was wrong */
async function runOnly(stack: FaultStack, random: Random, name: SingleTrial, reportFile?: string): Promise<boolean> {
  const found = await SINGLE_TRIALS[name]({ stack, journal: new Journal(), random });
  console.log(found.length === 0 ? `${name}: no violations` : found.join('\n'));
  if (reportFile !== undefined) writeFileSync(reportFile, JSON.stringify(found));
  process.exitCode = found.length > 0 ? 1 : 0;
  return found.length > 0;
}

interface Options {
  readonly only?: SingleTrial;
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
        'Kills the processes of a whole Lunas in the middle of payments, and judges what became of them (docs/proof.md).',
      )
      .option('--seed <number>', 'the plan: who is killed where', wholeNumber, Math.floor(Math.random() * 1e9))
      .option(
        '--kills <count>',
        'how many; about 4 s each, and a minute and a half for what is broken on purpose',
        wholeNumber,
        600,
      )
      .addOption(
        new Option('--only <trial>', 'one trial of the slow tests instead').choices(Object.keys(SINGLE_TRIALS)),
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
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It has to be a whole number.');
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
