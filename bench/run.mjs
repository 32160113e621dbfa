// `npm run bench`: builds Lunas and the benchmark, and starts the benchmark with the arguments.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const BENCH = fileURLToPath(new URL('.', import.meta.url));
const ROOT = path.dirname(path.resolve(BENCH));
const TSC = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

await run(process.execPath, [path.join(ROOT, 'scripts', 'build.mjs')], ROOT);
await run(process.execPath, [TSC, '-p', BENCH], ROOT);

const bench = spawn(process.execPath, [path.join(ROOT, 'dist', 'bench', 'main.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// The benchmark receives Ctrl-C too. This process waits until the benchmark has cleaned up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => bench.kill(signal));
const [code] = await once(bench, 'exit');
process.exitCode = code ?? 1;

async function run(command, args, cwd) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', process.stderr, process.stderr] });
  const [code] = await once(child, 'exit');
  // The child has printed the error.
  if (code !== 0) process.exit(code ?? 1);
}
