import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { isAlive } from '../local-stack/processes';
import { setVariables, type ImageTree } from './image-tree';

const FORWARDER = path.join(__dirname, 'forward.mjs');
const START_TIMEOUT_MS = 90_000;
/** Group of the user `node`. */
const GROUP = '1000';

/** Connects an address in the network with one outside. */
export interface Forward {
  readonly from: 'inside' | 'outside';
  readonly port: number;
  readonly toPort: number;
}

/** A file or directory of this machine in a container. Its path exists in the image. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly isWritable?: boolean;
}

export interface ContainerOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** Default: that of the image. */
  readonly entrypoint?: readonly string[];
  readonly mounts?: readonly Mount[];
}

/** A process in the image's file tree, which it sees read-only, as the image's user and as process 1. */
export interface Container {
  /** What it has printed to stdout and stderr. */
  output(): string;
  stdout(): string;
  signal(signal: NodeJS.Signals): void;
  readonly exitCode: Promise<number | null>;
}

const statusSchema = z.object({ 'child-pid': z.number() });

/** A network namespace in which every host name means loopback. So processes have the ports of the compose file. */
export class PrivateNetwork {
  readonly #children: ChildProcess[] = [];
  /** The processes 1 of the containers that run: with another user, they do not end with bubblewrap. */
  readonly #processIds = new Set<number>();
  #pid = 0;

  private constructor(
    private readonly directory: string,
    private readonly hostsFile: string,
  ) {}

  static async open(
    directory: string,
    hosts: readonly string[],
    forwards: readonly Forward[],
  ): Promise<PrivateNetwork> {
    const hostsFile = path.join(directory, 'hosts');
    await writeFile(hostsFile, `127.0.0.1 localhost ${hosts.join(' ')}\n`);
    const network = new PrivateNetwork(directory, hostsFile);
    const node = (forwarded: object[]) => [process.execPath, FORWARDER, JSON.stringify(forwarded)];
    const { inside, outside } = network.#pairs(forwards);
    const holder = network.#bubblewrap(['--unshare-net', '--dev-bind', '/', '/', '--', ...node(inside)], []);
    network.#pid = await holder.pid;
    const [command = '', ...args] = node(outside);
    const outer = network.#track(spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    await Promise.all([holder.child, outer].map(firstOutput));
    return network;
  }

  /** Starts a process of an image. */
  async start(image: ImageTree, options: ContainerOptions): Promise<Container> {
    const { environment, command, entrypoint, mounts = [] } = options;
    const files = [
      '--ro-bind',
      image.root,
      '/',
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      '--ro-bind',
      this.hostsFile,
      '/etc/hosts',
    ];
    const binds = mounts.flatMap(({ source, target, isWritable = false }) => [
      isWritable ? '--bind' : '--ro-bind',
      source,
      target,
    ]);
    const sandbox = ['--unshare-pid', '--as-pid-1', '--chdir', image.workingDirectory, '--'];
    const user = ['setpriv', `--reuid=${image.user}`, `--regid=${GROUP}`, '--clear-groups', '--no-new-privs'];
    const withoutCapabilities = ['--inh-caps=-all', '--bounding-set=-all', ...(entrypoint ?? image.entrypoint)];
    const variables = setVariables({ ...image.environment, ...environment });
    const args = [...variables, ...files, ...binds, ...sandbox, ...user, ...withoutCapabilities, ...command];
    const { child, pid } = this.#bubblewrap(args, ['nsenter', `--net=/proc/${this.#pid}/ns/net`]);
    const outputs = [child.stdout, child.stderr].map(collect);
    const exitCode = once(child, 'close').then(() => child.exitCode);
    const processId = await pid;
    this.#processIds.add(processId);
    void exitCode.then(() => this.#processIds.delete(processId));
    return {
      output: () => outputs.map((read) => read()).join(''),
      stdout: () => outputs[0]?.() ?? '',
      signal: (signal) => process.kill(processId, signal),
      exitCode,
    };
  }

  /** Kills every process in it. */
  async close(): Promise<void> {
    const running = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((child) => once(child, 'exit'));
    for (const processId of [...this.#processIds].filter(isAlive)) process.kill(processId, 'SIGKILL');
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ended);
  }

  #bubblewrap(args: readonly string[], before: readonly string[]) {
    const [command = '', ...rest] = [...before, 'bwrap', '--die-with-parent', '--json-status-fd', '3', ...args];
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe'];
    const child = this.#track(spawn(command, rest, { stdio }));
    return { child, pid: processIdOf(child) };
  }

  #track(child: ChildProcess): ChildProcess {
    this.#children.push(child);
    return child;
  }

  /** A Unix socket for each forward connects the two namespaces. */
  #pairs(forwards: readonly Forward[]): { inside: object[]; outside: object[] } {
    const pairs = forwards.map(({ from, port, toPort }, index) => {
      const socket = { path: path.join(this.directory, `${index}.sock`) };
      const listening = { listen: { port, host: '127.0.0.1' }, connect: socket };
      const connecting = { listen: socket, connect: { port: toPort, host: '127.0.0.1' } };
      return from === 'inside' ? [listening, connecting] : [connecting, listening];
    });
    return { inside: pairs.flatMap(([pair = {}]) => pair), outside: pairs.flatMap(([, pair = {}]) => pair) };
  }
}

async function processIdOf(child: ChildProcess): Promise<number> {
  const status = child.stdio[3];
  if (!(status instanceof Readable)) throw new Error('bubblewrap has no status pipe');
  const [line] = await once(createInterface({ input: status }), 'line', {
    signal: AbortSignal.timeout(START_TIMEOUT_MS),
  });
  return statusSchema.parse(JSON.parse(String(line)))['child-pid'];
}

async function firstOutput({ stdout }: ChildProcess): Promise<void> {
  if (stdout !== null) await once(stdout, 'data', { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
}

function collect(stream: Readable | null): () => string {
  let text = '';
  stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}
