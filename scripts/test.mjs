// What `npm test` runs: the build (a test starts the built command), then jest with the arguments given.
// The last line is `N passed, N failed`; a test file that cannot be loaded counts as one failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const JEST = createRequire(import.meta.url).resolve('jest/bin/jest');

let running;
// Jest stops what it has started, and we wait for it. On Ctrl-C it hears of it twice, which it knows how to take.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => running?.kill(signal));

const folder = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-results-'));
try {
  process.exitCode = await testBuilt(path.join(folder, 'results.json'));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function testBuilt(resultsFile) {
  const built = await run([path.join(ROOT, 'scripts', 'build.mjs')]);
  const exitCode =
    built === 0 ? await run([JEST, ...process.argv.slice(2), '--json', '--outputFile', resultsFile]) : built;
  const { passed, failed } = await readCounts(resultsFile);
  // Jest that fails without a failed test: it was interrupted, or what the tests share did not start.
  console.log(`${passed} passed, ${exitCode !== 0 && failed === 0 ? 1 : failed} failed`);
  return exitCode;
}

async function run(args) {
  running = spawn(process.execPath, args, { cwd: ROOT, stdio: ['inherit', 'ignore', 'inherit'] });
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
