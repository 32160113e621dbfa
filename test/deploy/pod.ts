import { existsSync, lstatSync } from 'node:fs';
import { chmod, chown, mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import type { RenderedContainer, RenderedPod } from './helm';
import type { ImageTree } from './image-tree';
import { PrivateNetwork, type Container, type Forward, type Mount } from './private-network';

/** By the name of the secret and the key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Directories of this machine that programs need. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc/ssl'];
const OWN_PROGRAMS = '/image/bin';

/**
 * Instead of the image: the programs of this machine, with the build of this directory where the image has it. The rest
 * is empty, and read-only for the containers.
 * @param directory does not exist yet
 * @param mountPaths get a directory each
 */
export async function machineImage(
  directory: string,
  mountPaths: readonly string[],
): Promise<{ readonly image: ImageTree; readonly mounts: readonly Mount[] }> {
  const at = (file: string): string => path.join(directory, file);
  const system = SYSTEM.filter(existsSync);
  const links = system.filter((name) => lstatSync(name).isSymbolicLink());
  const directories = system.filter((name) => !links.includes(name));
  const empty = ['/proc', '/dev', '/lunas', OWN_PROGRAMS, ...mountPaths];
  for (const name of [...directories, ...empty]) await mkdir(at(name), { recursive: true });
  for (const name of links) await symlink(await readlink(name), at(name));
  await writeFile(at('/etc/hosts'), '');
  await writeFile(at('/etc/passwd'), 'node:x:1000:1000::/home/node:/bin/sh\n');
  await writeFile(at(`${OWN_PROGRAMS}/node`), '');
  await symlink('/lunas/dist/src/cli/lunas.js', at(`${OWN_PROGRAMS}/lunas`));
  const environment = { NODE_ENV: 'production', PATH: `${OWN_PROGRAMS}:/usr/bin:/bin` };
  const image = { root: directory, workingDirectory: '/lunas', user: '1000', environment, entrypoint: ['lunas'] };
  const mounts = [
    ...directories.map((name) => ({ source: name, target: name })),
    { source: PACKAGE_ROOT, target: '/lunas' },
    { source: process.execPath, target: `${OWN_PROGRAMS}/node` },
  ];
  return { image, mounts };
}

export interface PodOptions {
  /** For the volumes and the network; it does not exist yet. */
  readonly directory: string;
  readonly machine: Awaited<ReturnType<typeof machineImage>>;
  readonly secrets: Secrets;
  readonly hosts: readonly string[];
  readonly forwards: readonly Forward[];
}

/** A rendered pod: its volumes, and a network in which its containers run. */
export class Pod {
  private constructor(
    private readonly pod: RenderedPod,
    private readonly options: PodOptions,
    private readonly network: PrivateNetwork,
  ) {}

  static async open(pod: RenderedPod, options: PodOptions): Promise<Pod> {
    const { directory, hosts, forwards, secrets } = options;
    await mkdir(directory);
    for (const volume of pod.volumes) await createVolume(path.join(directory, volume.name), volume, pod, secrets);
    const sockets = path.join(directory, 'network');
    await mkdir(sockets);
    return new Pod(pod, options, await PrivateNetwork.open(sockets, hosts, forwards));
  }

  /** Starts a container with the command of its specification. */
  start(container: RenderedContainer): Promise<Container> {
    const { command, args } = container;
    return this.run(container, command ?? this.options.machine.image.entrypoint, args);
  }

  /** `kubectl exec`: a process beside that of the container. */
  async execute(container: RenderedContainer, command: readonly string[], variables: Record<string, string> = {}) {
    const process = await this.run(container, command, [], variables);
    return { exitCode: await process.exitCode, output: process.output(), stdout: process.stdout() };
  }

  close(): Promise<void> {
    return this.network.close();
  }

  private run(
    { env, volumeMounts }: RenderedContainer,
    entrypoint: readonly string[],
    command: readonly string[],
    variables: Record<string, string> = {},
  ): Promise<Container> {
    const { directory, machine } = this.options;
    const { runAsUser } = this.pod.securityContext;
    const environment = { ...Object.fromEntries(env.map(({ name, value }) => [name, value])), ...variables };
    const volumes = volumeMounts.map(({ name, mountPath, readOnly }) => ({
      source: path.join(directory, name),
      target: mountPath,
      isWritable: !readOnly,
    }));
    const image = { ...machine.image, user: String(runAsUser) };
    return this.network.start(image, { environment, command, entrypoint, mounts: [...machine.mounts, ...volumes] });
  }
}

/** As the kubelet does: files with the mode and the group of the pod. A key that the secret lacks is an error. */
async function createVolume(
  directory: string,
  { name, projected }: RenderedPod['volumes'][number],
  { securityContext: { fsGroup } }: RenderedPod,
  secrets: Secrets,
): Promise<void> {
  await mkdir(directory);
  await chown(directory, 0, fsGroup);
  await chmod(directory, projected === undefined ? 0o2777 : 0o755);
  for (const { secret } of projected?.sources ?? []) {
    for (const { key, path: target } of secret.items) {
      const value = secrets[secret.name]?.[key];
      if (value === undefined) throw new Error(`The volume ${name} lacks the key ${key} of the secret ${secret.name}`);
      const file = path.join(directory, target);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, value);
      await chown(file, 0, fsGroup);
      await chmod(file, projected?.defaultMode ?? 0);
    }
  }
}
