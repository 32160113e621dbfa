// `npm test`, `npm run test:slow` and `npm run test:proof` build Lunas, because some tests start the built command.
// Then they run jest with these arguments. `npm run test:previous` (`--previous`) does so in the previous version, on
// the schema of this one. `npm run test:all` (`--all`) runs the first two, some files of `npm run test:pgbouncer` and
// `npm run test:previous`, and the e2e test with the image's version of Node.js.
// `npm run test:landing` (`--landing`) is as `--all`, without the proofs that scripts/rotation.cjs leaves out, and with
// the e2e test of this version of Node.js only through PgBouncer.
// Without arguments `npm test` leaves the long files to `npm run test:slow`.
// With `--all`, suites run beside each other where the cores have time. Files that failed run once more, alone, and the
// output names them: two cores that other work uses can make a test miss its time limit.
// The last line is `N passed, N failed`. A test file that cannot be loaded counts as one failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { extractVersion, findPreviousVersion } from './previous-version.mjs';
import { leftOutHere } from './rotation.cjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
const NODE_VERSION_OF_IMAGE = (await readFile(path.join(ROOT, '.nvmrc'), 'utf8')).trim();
/** The registry has the binary as a package. */
const NODE_OF_IMAGE = `node-${process.platform}-${process.arch}@${NODE_VERSION_OF_IMAGE}`;
/** Every process, most of their statements, and commands. The rest takes minutes more. */
const THROUGH_PGBOUNCER = ['test/e2e/up', 'create-payment.test', 'operator-api.test'];
/** It has the rules of its own version. */
const NOT_PREVIOUS = ['--testPathIgnorePatterns', String.raw`test/db/migration-rules\.test\.ts$`];
const NO_PREVIOUS = {
  migration: 'No migration follows the first schema, so there is no version of another schema to test.',
  history: 'The history does not have the version before the last migration. Run `git fetch --unshallow`.',
};
/** The statements of each process, in its role. The rest takes minutes more. */
const IN_PREVIOUS = ['create-payment.test', 'refund-payment.test', 'list-transactions.test', 'test/db/transitions'];
/** More files do not fail because another load took their time. */
const MAX_REPEATED = 8;
const SLOW = { config: 'jest.slow.config.cjs', repeatsFailed: true };
const UP = 'test/e2e/up.test.ts';
/** They follow the suites beside the slow one, which would end long before it. */
const DOCUMENTS = 'test/slow/documents/';
/** One file at a time, beside the four of the slow suite. */
const BESIDE_SLOW = [
  { config: 'jest.pgbouncer.config.cjs', args: ['--maxWorkers=1', ...THROUGH_PGBOUNCER], repeatsFailed: true },
  { args: IN_PREVIOUS, isPrevious: true },
  {
    config: 'jest.slow.config.cjs',
    args: [UP],
    node: ['npm', 'exec', '--yes', `--package=${NODE_OF_IMAGE}`, '--', 'node'],
    repeatsFailed: true,
  },
];
const FAST = ['--selectProjects', 'unit', 'integration'];
const THIS_NODE = [process.execPath];

const running = new Set();
let isInterrupted = false;
// Jest stops its servers, and this process waits for jest. On Ctrl-C jest receives the signal twice, which is safe.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => interrupt(signal));
}

const stages = stagesOf(process.argv.slice(2));
const exitCode = await run([...THIS_NODE, path.join(ROOT, 'scripts', 'build.mjs')]);
const total = { exitCode, passed: 0, failed: 0, repeated: [] };
if (total.exitCode !== 0) total.failed = 1;
else for (const stage of stages) await add(total, stage);
if (isInterrupted) {
  total.exitCode ||= 1;
  total.failed ||= 1;
}
if (total.repeated.length > 0) console.log(`Repeated because they failed once:\n${total.repeated.join('\n')}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.exitCode;

function stagesOf([mode, ...others]) {
  if (mode === '--all') return allStages([]);
  if (mode === '--landing') return allStages([...reportLeftOut(leftOutHere(ROOT)), UP]);
  if (mode === undefined) return [[[{ args: FAST }]]];
  if (mode !== '--previous') return [[[{ args: process.argv.slice(2) }]]];
  return [[[{ args: others.length > 0 ? others : ['test/api', 'test/db'], isPrevious: true, isRequired: true }]]];
}

/** The lanes of a stage run beside each other, and the suites of a lane one after another. */
function allStages(skipped) {
  const slow = (project, args, ignored = skipped) => ({
    ...SLOW,
    args: [`--selectProjects=${project}`, ...args, ...ignoring(ignored)],
  });
  const documents = slow('slow', ['--maxWorkers=1', '--passWithNoTests', DOCUMENTS]);
  return [
    [[{ args: ignoring(skipped), repeatsFailed: true }]],
    [[slow('slow', [], [...skipped, DOCUMENTS])], [...BESIDE_SLOW, documents]],
    [[slow('alone', ['--passWithNoTests'])]],
  ];
}

function ignoring(paths) {
  return paths.length > 0 ? [`--testPathIgnorePatterns=${paths.join('|').replaceAll('.', String.raw`\.`)}`] : [];
}

function reportLeftOut(files) {
  console.log(`Left out by rotation, because this landing changes nothing that they declare: ${files.length} proofs`);
  for (const file of files) console.log(`  ${file}`);
  return files;
}

/** Failed files run again when no other suite runs. */
async function add(total, stage) {
  const lanes = await runLanes(stage);
  for (const { suite, result } of lanes.flat()) {
    const { repeated, ...last } = await repeatFailed(suite, result);
    const { exitCode, passed, failed } = countsOf(last);
    total.exitCode ||= exitCode;
    total.passed += passed;
    total.repeated.push(...repeated);
    // If jest fails without a failed test, it was interrupted, or its global setup failed.
    total.failed += exitCode !== 0 && failed === 0 ? 1 : failed;
  }
}

/** If a lane rejects, the others end first. */
async function runLanes(stage) {
  const lanes = stage.map(runLane);
  try {
    return await Promise.all(lanes);
  } catch (error) {
    interrupt('SIGTERM');
    await Promise.allSettled(lanes);
    throw error;
  }
}

async function runLane(suites) {
  const results = [];
  for (const suite of suites) {
    if (isInterrupted) break;
    results.push({ suite, result: suite.isPrevious ? await testPrevious(suite) : await runJest(suite) });
  }
  return results;
}

/** Without a history (an unpacked archive, a clone with one commit) the previous version is not known. */
async function testPrevious({ args, isRequired = false }) {
  const { commit, missing } = findPreviousVersion();
  if (commit === null) {
    console.error(NO_PREVIOUS[missing]);
    return { exitCode: isRequired && missing === 'history' ? 1 : 0, files: [] };
  }
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-previous-'));
  try {
    await extractVersion(commit, directory);
    const built = await run([...THIS_NODE, path.join(directory, 'scripts', 'build.mjs')], directory);
    if (built !== 0) return { exitCode: built, files: [] };
    return await runJest({ args: [...args, ...NOT_PREVIOUS], cwd: directory });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function repeatFailed({ config, node, repeatsFailed = false }, first) {
  const failed = first.files.filter(hasFailed);
  if (!repeatsFailed || isInterrupted || failed.length === 0 || failed.length > MAX_REPEATED)
    return { ...first, repeated: [] };
  const repeated = failed.map(({ name }) => name);
  console.log(`${repeated.length} files failed. They run again, one at a time:\n${repeated.join('\n')}`);
  const second = await runJest({ config, node, args: ['--maxWorkers=1', '--runTestsByPath', ...repeated] });
  const others = first.files.filter((file) => !hasFailed(file));
  return { exitCode: second.exitCode, files: [...others, ...second.files], repeated };
}

/** @returns the exit code, and jest's result of each file */
async function runJest({ config, args, node = THIS_NODE, cwd }) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-results-'));
  const resultsFile = path.join(directory, 'results.json');
  const options = config === undefined ? [] : ['--config', config];
  try {
    const exitCode = await run([...node, JEST, ...options, ...args, '--json', '--outputFile', resultsFile], cwd);
    return { exitCode, files: await readFiles(resultsFile) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function interrupt(signal) {
  isInterrupted = true;
  for (const child of running) child.kill(signal);
}

async function run([program, ...args], cwd = ROOT) {
  if (isInterrupted) return 1;
  const child = spawn(program, args, { cwd, stdio: 'inherit' });
  running.add(child);
  const [code] = await once(child, 'exit');
  running.delete(child);
  return code ?? 1;
}

async function readFiles(resultsFile) {
  try {
    return JSON.parse(await readFile(resultsFile, 'utf8')).testResults;
  } catch {
    return [];
  }
}

function hasFailed({ status }) {
  return status === 'failed';
}

/** A file that cannot be loaded has no test that failed. */
function countsOf({ exitCode, files }) {
  const count = ({ assertionResults }, wanted) => assertionResults.filter(({ status }) => status === wanted).length;
  const sum = (of) => files.reduce((total, file) => total + of(file), 0);
  return {
    exitCode,
    passed: sum((file) => count(file, 'passed')),
    failed: sum((file) => (hasFailed(file) ? Math.max(count(file, 'failed'), 1) : 0)),
  };
}
