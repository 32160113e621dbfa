// `npm test`, `npm run test:slow` and `npm run test:proof` build Lunas, because some tests start the built command.
// Then they run jest with these arguments. `npm run test:previous` (`--previous`) does so in the previous version, on
// the schema of this one. `npm run test:all` (`--all`) runs the first two, some files of `npm run test:pgbouncer` and
// `npm run test:previous`, and the e2e test with the image's version of Node.js.
// With `--all`, files that failed run once more, alone, and the output names them: two cores that other work uses can
// make a test miss its time limit.
// The last line is `N passed, N failed`. A test file that cannot be loaded counts as one failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { extractVersion, findPreviousVersion } from './previous-version.mjs';

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
  migration: 'There is only one migration, so there is no version of another schema to test.',
  history: 'The history does not have the version before the last migration. Run `git fetch --unshallow`.',
};
/** The statements of each process, in its role. The rest takes minutes more. */
const IN_PREVIOUS = ['create-payment.test', 'refund-payment.test', 'list-transactions.test', 'test/db/transitions'];
/** More files do not fail because another load took their time. */
const MAX_REPEATED = 8;
const SUITES = [
  { args: [], repeatsFailed: true },
  { config: 'jest.slow.config.cjs', args: [], repeatsFailed: true },
  { config: 'jest.pgbouncer.config.cjs', args: THROUGH_PGBOUNCER, repeatsFailed: true },
  { args: IN_PREVIOUS, isPrevious: true },
  {
    config: 'jest.slow.config.cjs',
    args: ['test/e2e/up.test.ts'],
    node: ['npm', 'exec', '--yes', `--package=${NODE_OF_IMAGE}`, '--', 'node'],
  },
];
const THIS_NODE = [process.execPath];

let running;
let isInterrupted = false;
// Jest stops its servers, and this process waits for jest. On Ctrl-C jest receives the signal twice, which is safe.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isInterrupted = true;
    running?.kill(signal);
  });
}

const suites = suitesOf(process.argv.slice(2));
const exitCode = await run([...THIS_NODE, path.join(ROOT, 'scripts', 'build.mjs')]);
const total = { exitCode, passed: 0, failed: 0, repeated: [] };
if (total.exitCode !== 0) total.failed = 1;
else for (const suite of suites) await add(total, suite);
if (total.repeated.length > 0) console.log(`Repeated because they failed once:\n${total.repeated.join('\n')}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.exitCode;

function suitesOf([mode, ...others]) {
  if (mode === '--all') return SUITES;
  if (mode !== '--previous') return [{ args: process.argv.slice(2) }];
  return [{ args: others.length > 0 ? others : ['test/api', 'test/db'], isPrevious: true, isRequired: true }];
}

async function add(total, suite) {
  if (isInterrupted) return;
  const { exitCode, passed, failed, repeated = [] } = suite.isPrevious ? await testPrevious(suite) : await test(suite);
  total.exitCode ||= exitCode;
  total.passed += passed;
  total.repeated.push(...repeated);
  // If jest fails without a failed test, it was interrupted, or its global setup failed.
  total.failed += exitCode !== 0 && failed === 0 ? 1 : failed;
}

/** Without a history (an unpacked archive, a clone with one commit) the previous version is not known. */
async function testPrevious({ args, isRequired = false }) {
  const { commit, missing } = findPreviousVersion();
  if (commit === null) {
    console.error(NO_PREVIOUS[missing]);
    return { exitCode: isRequired && missing === 'history' ? 1 : 0, passed: 0, failed: 0 };
  }
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-previous-'));
  try {
    await extractVersion(commit, directory);
    const built = await run([...THIS_NODE, path.join(directory, 'scripts', 'build.mjs')], directory);
    if (built !== 0) return { exitCode: built, passed: 0, failed: 0 };
    return await test({ args: [...args, ...NOT_PREVIOUS], cwd: directory });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function test({ config, args, node = THIS_NODE, cwd, repeatsFailed = false }) {
  const options = config === undefined ? [] : ['--config', config];
  const first = await runJest([...options, ...args], node, cwd);
  const failed = first.files.filter(hasFailed);
  if (!repeatsFailed || isInterrupted || failed.length === 0 || failed.length > MAX_REPEATED) return countsOf(first);
  const names = failed.map(({ name }) => name);
  console.log(`${names.length} files failed. They run again, one at a time:\n${names.join('\n')}`);
  const second = await runJest([...options, '--maxWorkers', '1', '--runTestsByPath', ...names], node, cwd);
  const others = first.files.filter((file) => !hasFailed(file));
  const counts = countsOf({ exitCode: second.exitCode, files: [...others, ...second.files] });
  return { ...counts, repeated: names };
}

/** @returns the exit code, and jest's result of each file */
async function runJest(args, node, cwd) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-results-'));
  const resultsFile = path.join(directory, 'results.json');
  try {
    const exitCode = await run([...node, JEST, ...args, '--json', '--outputFile', resultsFile], cwd);
    return { exitCode, files: await readFiles(resultsFile) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function run([program, ...args], cwd = ROOT) {
  running = spawn(program, args, { cwd, stdio: 'inherit' });
  const [code] = await once(running, 'exit');
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
