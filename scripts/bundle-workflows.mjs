import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'lunas');

/** The contents of the bundle: workflows import only the domain (.dependency-cruiser.cjs) and locked packages. */
const SOURCES = ['workflows', 'src/domain', 'package-lock.json', 'scripts/bundle-workflows.mjs'];

/**
 * Writes the workflows as one file with an inline source map, so that stack traces name lines of the sources.
 * Bundling takes one or two seconds, so the bundle is cached by the hash of its sources.
 */
export async function bundleWorkflows(target) {
  const cached = path.join(CACHE, `workflow-bundle-${await hashOfSources()}.js`);
  if (!existsSync(cached)) await makeBundle(cached);
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(cached, target);
}

async function makeBundle(file) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = path.join(ROOT, 'workflows', 'index.ts');
  // A worker evaluates the modules once, not once for each workflow. test/workflows/module-state.test.ts proves that
  // they have no state that one workflow could leave to another.
  const preloadModules = [workflowsPath];
  const { code } = await bundleWorkflowCode({ workflowsPath, preloadModules, logger: new DefaultLogger('ERROR') });
  await mkdir(CACHE, { recursive: true });
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, code);
  await rename(partial, file);
}

async function hashOfSources() {
  const hash = createHash('sha256').update(ROOT);
  for (const source of SOURCES) {
    for (const file of await filesOf(path.join(ROOT, source))) hash.update(`\0${file}\0`).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesOf(source) {
  if (path.extname(source) !== '') return [source];
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return files.toSorted();
}
