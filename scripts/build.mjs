// Builds dist/ from scratch: the JavaScript by tsc, and the workflow bundle, which workers load at their start. Builds
// packages/node too, for `npm pack`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from './bundle-workflows.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = path.join(ROOT, 'dist');
const SDK = path.join(ROOT, 'packages', 'node');

console.error('Building Lunas …');
await Promise.all([DIST, path.join(SDK, 'dist')].map((directory) => rm(directory, { recursive: true, force: true })));
await Promise.all([
  compile('tsconfig.build.json'),
  compile(SDK),
  bundleWorkflows(path.join(DIST, 'workflow-bundle.js')),
]);
await chmod(path.join(DIST, 'src', 'cli', 'lunas.js'), 0o755);

async function compile(project) {
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const compiler = spawn(process.execPath, [tsc, '-p', project], {
    cwd: ROOT,
    stdio: ['ignore', process.stderr, process.stderr],
  });
  const [code] = await once(compiler, 'exit');
  // The compiler has printed the errors.
  if (code !== 0) process.exit(1);
}
