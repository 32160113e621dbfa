import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/package-info';
import { findBaseTree } from './base-image';
import { isExcludedFromContext, readDockerfile, type Instruction } from './dockerfile';

const run = promisify(execFile);
const RUN_TIMEOUT_MS = 300_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const words = z.array(z.string());

/** A stage of the Dockerfile. */
export interface ImageTree {
  readonly root: string;
  workingDirectory: string;
  user: string;
  readonly environment: Record<string, string>;
  entrypoint: readonly string[];
}

/**
 * Executes the Dockerfile's own lines without Docker.
 * @param directory gets a directory for each stage
 * @returns the last stage
 */
export async function buildImageTree(directory: string): Promise<ImageTree> {
  const stages = new Map<string, ImageTree>();
  await mkdir(directory);
  let stage: ImageTree | undefined;
  for (const instruction of readDockerfile()) {
    if (instruction.name === 'FROM') {
      const [image = '', , name = 'final'] = instruction.argument.split(/\s+/);
      stage = await startStage(path.join(directory, name), image);
      stages.set(name, stage);
    } else if (stage !== undefined) await execute(stage, instruction, stages);
  }
  if (stage === undefined) throw new Error('The Dockerfile has no stage');
  for (const { root } of stages.values()) if (root !== stage.root) await rm(root, { recursive: true });
  return stage;
}

async function startStage(root: string, image: string): Promise<ImageTree> {
  await run('cp', ['--archive', '--reflink=auto', await findBaseTree(image), root]);
  return { root, workingDirectory: '/', user: '0', environment: { PATH: IMAGE_PATH }, entrypoint: [] };
}

/** The `PATH` of the base image. */
const IMAGE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

type StageNames = ReadonlyMap<string, ImageTree>;

/** Instructions that change no file. */
const WITHOUT_FILES: ReadonlySet<string> = new Set(['ARG', 'CMD', 'LABEL']);

async function execute(stage: ImageTree, { name, argument }: Instruction, stages: StageNames): Promise<void> {
  if (name === 'WORKDIR') {
    stage.workingDirectory = argument;
    await mkdir(path.join(stage.root, argument), { recursive: true });
  } else if (name === 'COPY') await copy(stage, argument, stages);
  else if (name === 'RUN') await runInTree(stage, argument);
  else if (name === 'ENV') {
    for (const assignment of argument.split(/\s+/)) {
      const [, variable = '', value = ''] = /^(\w+)=(.*)$/.exec(assignment) ?? [];
      stage.environment[variable] = value;
    }
  } else if (name === 'USER') stage.user = argument;
  else if (name === 'ENTRYPOINT') stage.entrypoint = words.parse(JSON.parse(argument));
  else if (!WITHOUT_FILES.has(name)) throw new Error(`The tests cannot execute ${name} ${argument}`);
}

async function copy(stage: ImageTree, argument: string, stages: StageNames): Promise<void> {
  const [, from, files = ''] = /^(?:--from=(\w+)\s+)?(.*)$/.exec(argument) ?? [];
  const sources = files.split(/\s+/);
  const target = path.join(stage.root, path.resolve(stage.workingDirectory, sources.pop() ?? ''));
  if (from === undefined) return copyContext(sources, target);
  const root = stages.get(from)?.root;
  if (root === undefined) throw new Error(`The Dockerfile has no stage ${from}`);
  for (const source of sources.map((file) => path.join(root, file))) {
    const copied = (await stat(source)).isFile() ? path.join(target, path.basename(source)) : target;
    await mkdir(path.dirname(copied), { recursive: true });
    await run('cp', ['--archive', '--no-target-directory', source, copied]);
  }
}

/** The files of the working tree that a build context of this commit would contain. */
async function copyContext(sources: readonly string[], target: string): Promise<void> {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...sources];
  const files = execFileSync('git', list, { cwd: PACKAGE_ROOT, encoding: 'utf8' }).trim().split('\n');
  for (const file of files.filter((name) => !isExcludedFromContext(name))) {
    await cp(path.join(PACKAGE_ROOT, file), path.join(target, file));
  }
}

/** Runs a shell command as root, with the network of this machine. */
export async function runInTree(stage: ImageTree, command: string): Promise<void> {
  const { binds, variables } = registrySettings();
  const files = ['--bind', stage.root, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run'];
  const mounts = binds.flatMap(({ source, target }) => ['--bind', source, target]);
  const shell = ['--cap-add', 'ALL', '--die-with-parent', '--chdir', stage.workingDirectory, '/bin/sh', '-c', command];
  const args = [...files, ...mounts, ...setVariables({ ...stage.environment, ...variables }), ...shell];
  await run('bwrap', args, { timeout: RUN_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES });
}

/** The arguments of bubblewrap that give a process these variables and no other. */
export function setVariables(variables: Readonly<Record<string, string>>): string[] {
  return ['--clearenv'].concat(Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]));
}

/** How this machine reaches the registries. Nothing of it stays in the tree, because `/run` is temporary. */
function registrySettings() {
  const npmSetting = (name: string): string =>
    execFileSync('npm', ['config', 'get', name], {
      cwd: os.tmpdir(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const authority = npmSetting('cafile');
  const files = { npm_config_cafile: authority, npm_config_userconfig: npmSetting('userconfig') };
  const given = Object.entries({ ...files, npm_config_cache: npmSetting('cache') }).filter(([, file]) =>
    existsSync(file),
  );
  const proxies = Object.entries(process.env).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name));
  return {
    binds: [{ source: '/etc/resolv.conf', target: '/etc/resolv.conf' }].concat(
      given.map(([name, source]) => ({ source, target: `/run/${name}` })),
    ),
    variables: {
      npm_config_prefer_offline: 'true',
      ...Object.fromEntries(proxies),
      ...Object.fromEntries(given.map(([name]) => [name, `/run/${name}`])),
    },
  };
}
