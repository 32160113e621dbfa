// `node scripts/compile-typescript.mjs FOLDER` compiles the service, and what the fault tests run as processes of their own, without
// a look at the types: a picture of the sources at one moment, whatever happens to them while a long run is under way.
// The folder has to be below the checkout, so that packages are found from there.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['workflows', 'activities', 'src', 'test/faults', 'test/support'];

if (process.argv[1] === fileURLToPath(import.meta.url)) await compileTypeScript(process.argv[2]);

export async function compileTypeScript(target) {
  for (const folder of FOLDERS) {
    const entries = await readdir(path.join(ROOT, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && /(?<!\.d|\.test)\.ts$/.test(entry.name));
    await Promise.all(files.map(({ parentPath, name }) => compile(path.join(parentPath, name), target)));
  }
}

async function compile(file, target) {
  const { code } = await transformFile(file, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  });
  const compiled = path.join(target, path.relative(ROOT, file).replace(/\.ts$/, '.js'));
  await mkdir(path.dirname(compiled), { recursive: true });
  await writeFile(compiled, code);
}
