import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['workflows', 'activities', 'src', 'test/faults', 'test/support'];

/** Below the checkout, so that packages are found from there. */
export const COMPILED_FOLDER = path.join(ROOT, 'node_modules', '.cache', 'lunas', `compiled-${process.pid}`);

/**
 * Compiles the service and what the fault tests run as processes of their own, without a look at the types: a picture of
 * the sources at one moment, whatever happens to them while a long run is under way. Remove the folder afterwards.
 */
export async function compileTypeScript() {
  await rm(COMPILED_FOLDER, { recursive: true, force: true });
  for (const folder of FOLDERS) {
    const entries = await readdir(path.join(ROOT, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && /(?<!\.d|\.test)\.ts$/.test(entry.name));
    await Promise.all(files.map(({ parentPath, name }) => compile(path.join(parentPath, name))));
  }
  return COMPILED_FOLDER;
}

async function compile(file) {
  const { code } = await transformFile(file, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs', ignoreDynamic: true },
    sourceMaps: 'inline',
  });
  const target = path.join(COMPILED_FOLDER, path.relative(ROOT, file).replace(/\.ts$/, '.js'));
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, code);
}
