// `npm run commits`: checks the messages of all commits after the one that added commitlint.config.cjs.
// Without a history (no git, an unpacked archive, a clone with one commit) there is nothing to check.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CONFIG = 'commitlint.config.cjs';
const require = createRequire(import.meta.url);
const COMMITLINT = path.join(path.dirname(require.resolve('@commitlint/cli/package.json')), 'cli.js');

const first = findFirstCommit();
if (first === null) console.error('No commit to check: this is not a git checkout, or its history does not go back.');
else process.exitCode = lint(first);

/** In a shallow clone this is its oldest commit. */
function findFirstCommit() {
  const added = ['log', '--diff-filter=A', '--format=%H', '--', CONFIG];
  const { status, stdout } = spawnSync('git', added, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? (stdout.trim().split('\n').at(-1) ?? null) || null : null;
}

function lint(from) {
  const range = ['--from', from, '--to', 'HEAD'];
  const { status } = spawnSync(process.execPath, [COMMITLINT, '--config', CONFIG, ...range], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  return status ?? 1;
}
