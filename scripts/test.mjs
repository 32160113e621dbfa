// `npm test` and `npm run test:slow` build Lunas, because some tests start the built command. Then they run jest with
// these arguments. `npm run test:all` (`--all`) runs both suites, one after the other.
// The last line is `N passed, N failed`. A test file that cannot be loaded counts as one failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');
const SUITES = [[], ['--config', 'jest.slow.config.cjs']];

let running;
let isInterrupted = false;
// Jest stops its servers, and this process waits for jest. On Ctrl-C jest receives the signal twice, which is safe.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isInterrupted = true;
    running?.kill(signal);
  });
}

const args = process.argv.slice(2);
const suites = args.includes('--all') ? SUITES : [args];
const total = { exitCode: await run([path.join(ROOT, 'scripts', 'build.mjs')]), passed: 0, failed: 0 };
if (total.exitCode !== 0) total.failed = 1;
else for (const suite of suites) await add(total, suite);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.exitCode;

async function add(total, suite) {
  if (isInterrupted) return;
  const { exitCode, passed, failed } = await test(suite);
  total.exitCode ||= exitCode;
  total.passed += passed;
  // If jest fails without a failed test, it was interrupted, or its global setup failed.
  total.failed += exitCode !== 0 && failed === 0 ? 1 : failed;
}

async function test(suite) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-results-'));
  const resultsFile = path.join(directory, 'results.json');
  try {
    const exitCode = await run([JEST, ...suite, '--json', '--outputFile', resultsFile]);
    return { exitCode, ...(await readCounts(resultsFile)) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function run(command) {
  running = spawn(process.execPath, command, { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(running, 'exit');
  return code ?? 1;
}

async function readCounts(resultsFile) {
  try {
    const results = JSON.parse(await readFile(resultsFile, 'utf8'));
    return { passed: results.numPassedTests, failed: results.numFailedTests + results.numRuntimeErrorTestSuites };
  } catch {
    return { passed: 0, failed: 0 };
  }
}
