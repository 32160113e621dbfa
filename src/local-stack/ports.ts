import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, messageOf, UserError } from '../errors';

const RETRY_MS = 100;

interface PortRange {
  readonly from: number;
  readonly to: number;
}

const PORTS_PER_PROCESS = 1_000;
const MAX_ATTEMPTS = 100;

/** A free port below the ephemeral ones: an outgoing connection could take one of those before the server listens. */
export const freePort = portChooser({ from: 20_000, to: 32_000 });

/**
 * @returns a function that gives a free TCP port of the loopback interface at each call, or throws the operating
 * system's error if none is free. It gives them in turn from a part of the range that depends on the process id:
 * neither this process nor one that starts at the same time gets a port before its caller listens.
 */
export function portChooser(range: PortRange): () => Promise<number> {
  const ports = portsInTurn(range);
  return async () => {
    for (let attempts = 1; ; attempts += 1) {
      const port = ports.next().value;
      try {
        await assertListenable('127.0.0.1', port);
        return port;
      } catch (error) {
        if (codeOf(error) !== 'EADDRINUSE' || attempts === MAX_ATTEMPTS) throw error;
      }
    }
  };
}

function* portsInTurn({ from, to }: PortRange): Generator<number, never> {
  const first = from + (process.pid % ((to - from) / PORTS_PER_PROCESS)) * PORTS_PER_PROCESS;
  for (let offset = randomInt(PORTS_PER_PROCESS); ; offset += 1) yield first + (offset % PORTS_PER_PROCESS);
}

export interface Port {
  /** The environment variable that sets it. */
  readonly variable: string;
  readonly host: string;
  /** The environment variable that sets the host; by default `HOST`. */
  readonly hostVariable?: string;
  readonly port: number;
  /** An additional remedy if the port is taken. */
  readonly hint?: string;
}

/**
 * @param timeoutMs how long to wait for a taken port
 * @throws UserError with a line for each port that is taken or configured twice
 */
export async function checkPorts(ports: readonly Port[], timeoutMs: number): Promise<void> {
  const deadlineAtMs = performance.now() + timeoutMs;
  for (;;) {
    const problems = await findProblems(ports);
    if (problems.length === 0) return;
    if (performance.now() >= deadlineAtMs) throw new UserError(problems.join('\n'));
    await sleep(RETRY_MS);
  }
}

async function findProblems(ports: readonly Port[]): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, requested] of ports.entries()) {
    const { variable, port } = requested;
    const duplicate = ports.slice(0, index).find((other) => other.port === port);
    if (duplicate)
      problems.push(`${duplicate.variable} and ${variable} are both ${port}. Set one of them to another port.`);
    else problems.push(...(await findProblem(requested)));
  }
  return problems;
}

async function findProblem({ variable, host, hostVariable = 'HOST', port, hint }: Port): Promise<string[]> {
  try {
    await assertListenable(host, port);
    return [];
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') {
      const remedy = `Set ${variable} to a free one, or stop what uses it.`;
      return [[`Port ${port} is taken.`, remedy, ...(hint === undefined ? [] : [hint])].join(' ')];
    }
    const remedy = `Set ${variable} to a port above 1023, or ${hostVariable} to an address of this machine.`;
    return [`Cannot listen on ${host}:${port} (${code ?? messageOf(error)}). ${remedy}`];
  }
}

/** @throws the operating system's error */
async function assertListenable(host: string, port: number): Promise<void> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
