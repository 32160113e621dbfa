// `node scripts/compile-typescript.mjs DIRECTORY` compiles the service and the processes of the fault suite, without
// type checks. A long run uses such a copy, so that it does not depend on later changes of the sources.
// The directory must be below the checkout: Node.js finds the packages from there.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIRECTORIES = ['workflows', 'activities', 'src', 'test/faults', 'test/support'];

if (process.argv[1] === fileURLToPath(import.meta.url)) await compileTypeScript(process.argv[2]);

export async function compileTypeScript(target, directories = DIRECTORIES) {
  for (const directory of directories) {
    const entries = await readdir(path.join(ROOT, directory), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && /(?<!\.d|\.test)\.tsx?$/.test(entry.name));
    await Promise.all(files.map(({ parentPath, name }) => compile(path.join(parentPath, name), target)));
  }
}

async function compile(file, target) {
  const { code } = await transformFile(file, {
    jsc: {
      parser: { syntax: 'typescript', tsx: file.endsWith('.tsx') },
      target: 'es2022',
      transform: { react: { runtime: 'automatic' } },
    },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  });
  const compiled = path.join(target, path.relative(ROOT, file).replace(/\.tsx?$/, '.js'));
  await mkdir(path.dirname(compiled), { recursive: true });
  await writeFile(compiled, code);
}
