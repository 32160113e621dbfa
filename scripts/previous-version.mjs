// The version that runs while this one is deployed: the commit before the last change of the migrations. Its API and
// its worker work with the schema of this version until they are replaced.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MIGRATIONS = path.join('src', 'db', 'migrations');
/** The parts of the schema of the first version. */
const FIRST_SCHEMA = /^\d{4}_schema_\w+\.sql$/;
const ARCHIVE_BYTES = 512 * 1024 * 1024;

/**
 * @returns the commit, or what is missing: a migration of the first version's schema, because without one there was no
 *   other schema; or the history, because this is no git checkout, or a clone that does not go back that far
 */
export function findPreviousVersion(root = ROOT) {
  if (readdirSync(path.join(root, MIGRATIONS)).every((name) => FIRST_SCHEMA.test(name)))
    return { commit: null, missing: 'migration' };
  const git = gitIn(root);
  const isChanged = git('status', '--porcelain', '--', MIGRATIONS) !== '';
  // On the main branch a merge is one change.
  const last = git('log', '-1', '--first-parent', '--format=%H', '--', MIGRATIONS);
  const commit = git('rev-parse', '--verify', '--quiet', isChanged ? 'HEAD' : `${last}^`);
  return commit === null ? { commit, missing: 'history' } : { commit };
}

/** Writes the files of the commit into the directory, with the migrations and the installed packages of this tree. */
export async function extractVersion(commit, directory) {
  const { stdout, status } = spawnSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: ARCHIVE_BYTES });
  const tar = status === 0 && spawnSync('tar', ['-x', '-C', directory], { input: stdout });
  if (!tar || tar.status !== 0) throw new Error(`The files of ${commit} could not be extracted`);
  // A migration that this version no longer has would be applied too.
  await rm(path.join(directory, MIGRATIONS), { recursive: true });
  await cp(path.join(ROOT, MIGRATIONS), path.join(directory, MIGRATIONS), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  console.error(`Testing ${gitIn(ROOT)('log', '-1', '--format=%h, "%s"', commit)}, on the schema of this version.`);
}

/** @returns a function that runs git, and returns null if it fails */
function gitIn(root) {
  return (...args) => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : null;
  };
}
