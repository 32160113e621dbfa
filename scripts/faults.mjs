// `npm run test:faults -- --seed S --kills N`: the long fault run (docs/proof.md), on a snapshot of the sources.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from './bundle-workflows.mjs';
import { compileTypeScript } from './compile-typescript.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMPILED = path.join(ROOT, 'node_modules', '.cache', 'lunas', `compiled-${process.pid}`);
const BUNDLE = path.join(COMPILED, 'workflow-bundle.js');

let running;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => running?.kill(signal));

try {
  await compileTypeScript(COMPILED);
  await bundleWorkflows(BUNDLE);
  const main = path.join(COMPILED, 'test', 'faults', 'main.js');
  const directories = ['--compiled-directory', COMPILED, '--workflow-bundle', BUNDLE];
  const args = ['--enable-source-maps', main, ...directories, ...process.argv.slice(2)];
  running = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = await once(running, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await rm(COMPILED, { recursive: true, force: true });
}
