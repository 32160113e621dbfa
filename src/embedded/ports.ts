import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../config';

const RETRY_MS = 100;

/** Below those that systems give to outgoing connections: one of them could take it before its server does. */
const CHOSEN_PORTS = { from: 20_000, to: 32_000, mostTries: 100 } as const;

/**
 * A TCP port of the loopback interface that nothing listens on right now.
 * @throws the error of the operating system where none can be listened on
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(CHOSEN_PORTS.from, CHOSEN_PORTS.to);
    try {
      await tryListening('127.0.0.1', port);
      return port;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE' || tries === CHOSEN_PORTS.mostTries) throw error;
    }
  }
}

export interface Port {
  /** The environment variable that sets it. */
  readonly variable: string;
  readonly host: string;
  readonly port: number;
  /** What else can be done where the port is taken. */
  readonly hint?: string;
}

/**
 * @param patienceMs how long a taken port may still become free
 * @throws UserError, a line for each port that is taken or wanted twice
 */
export async function checkPorts(ports: readonly Port[], patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const faults = await faultsOf(ports);
    if (faults.length === 0) return;
    if (performance.now() >= deadline) throw new UserError(faults.join('\n'));
    await sleep(RETRY_MS);
  }
}

async function faultsOf(ports: readonly Port[]): Promise<string[]> {
  const faults: string[] = [];
  for (const [index, wanted] of ports.entries()) {
    const { variable, port } = wanted;
    const twin = ports.slice(0, index).find((other) => other.port === port);
    if (twin) faults.push(`${twin.variable} and ${variable} are both ${port}. Set one of them to another port.`);
    else faults.push(...(await faultOf(wanted)));
  }
  return faults;
}

async function faultOf({ variable, host, port, hint }: Port): Promise<string[]> {
  try {
    await tryListening(host, port);
    return [];
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') {
      const remedy = `Set ${variable} to a free one, or stop what uses it.`;
      return [[`Port ${port} is taken.`, remedy, ...(hint === undefined ? [] : [hint])].join(' ')];
    }
    return [
      `${host}:${port} cannot be listened on (${String(code)}). Set ${variable} to a port above 1023, or HOST to an address of this machine.`,
    ];
  }
}

/** @throws the error of the operating system */
async function tryListening(host: string, port: number): Promise<void> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error && 'code' in error ? error.code : error;
}
