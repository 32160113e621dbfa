import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BUILD_TIMEOUT_MS = 300_000;

/**
 * The file tree of `node:<version>-<suite>-slim`, built from the packages that the image consists of: Debian's minimal
 * system, and Node.js with npm. The cache of Lunas keeps it.
 */
export async function findBaseTree(image: string): Promise<string> {
  const [, version, suite] = /^node:([\d.]+)-(\w+)-slim$/.exec(image) ?? [];
  if (version === undefined || suite === undefined) throw new Error(`The tests cannot build the base image ${image}`);
  const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'lunas');
  const tree = path.join(cache, `image-node-${version}-${suite}`);
  if (existsSync(tree)) return tree;
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${tree}-`);
  try {
    await buildBaseTree(unfinished, version, suite);
    await rename(unfinished, tree).catch((error: unknown) => {
      // Another run of the tests has built the same tree meanwhile.
      if (!existsSync(tree)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return tree;
}

async function buildBaseTree(tree: string, version: string, suite: string): Promise<void> {
  // The directory is that of `mkdtemp`, which only root may enter.
  await chmod(tree, 0o755);
  await run('debootstrap', ['--variant=minbase', suite, tree], { timeout: BUILD_TIMEOUT_MS });
  const packages = path.join(tree, 'packages');
  const node = `node-${process.platform}-${process.arch}`;
  await mkdir(packages);
  await run('npm', ['install', '--prefix', packages, '--no-save', `${node}@${version}`], { timeout: BUILD_TIMEOUT_MS });
  await cp(path.join(packages, 'node_modules', node, 'bin'), path.join(tree, 'usr/local/bin'), { recursive: true });
  await rm(packages, { recursive: true });
  const { stdout } = await run('npm', ['root', '--global']);
  const npm = path.join(tree, 'usr/local/lib/node_modules/npm');
  await cp(path.join(stdout.trim(), 'npm'), npm, { recursive: true });
  const inTree = (command: string, ...args: string[]) => run('chroot', [tree, command, ...args]);
  await inTree('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm');
  // Processes get their own content of it.
  await inTree('touch', '/etc/hosts');
  await inTree('groupadd', '--gid', '1000', 'node');
  await inTree('useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node');
}
