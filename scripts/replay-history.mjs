// `node --inspect-brk scripts/replay-history.mjs FILE`: replays a workflow's history with the code of this checkout, in
// one thread, so that a debugger stops at breakpoints and `debugger` statements in workflows/ (docs/debugging.md).
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { bundleWorkflows } from './bundle-workflows.mjs';

const BUNDLE = fileURLToPath(new URL('../dist/workflow-bundle.js', import.meta.url));

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: node [--inspect-brk] scripts/replay-history.mjs FILE');
  process.exit(2);
}
Runtime.install({ logger: new DefaultLogger('ERROR') });
await bundleWorkflows(BUNDLE);
const history = JSON.parse(await readFile(file, 'utf8'));
// A history that the Temporal CLI or the Web UI wrote has no workflow id.
await Worker.runReplayHistory({ workflowBundle: { codePath: BUNDLE } }, history, path.basename(file, '.json'));
console.log(`${file} replays.`);
