// `npm run scale -- --payments-per-second N`: the size of a cluster (docs/scale.md), computed by bench/capacity.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileTypeScript } from './compile-typescript.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMPILED = path.join(ROOT, 'node_modules', '.cache', 'lunas', `capacity-${process.pid}`);

process.on('exit', () => rmSync(COMPILED, { recursive: true, force: true }));
try {
  await compileTypeScript(COMPILED, ['bench/capacity']);
  createRequire(import.meta.url)(path.join(COMPILED, 'bench', 'capacity', 'main.js')).main(ROOT);
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
