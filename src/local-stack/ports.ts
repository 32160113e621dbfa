import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, messageOf, UserError } from '../errors';

const RETRY_MS = 100;

/** Below those that systems give to outgoing connections: one of them could take it before its server does. */
const PORT_RANGE = { from: 20_000, to: 32_000, maxAttempts: 100 } as const;

/**
 * A TCP port of the loopback interface that nothing listens on right now.
 * @throws the error of the operating system where none can be listened on
 */
export async function freePort(): Promise<number> {
  for (let attempts = 1; ; attempts += 1) {
    const port = randomInt(PORT_RANGE.from, PORT_RANGE.to);
    try {
      await assertListenable('127.0.0.1', port);
      return port;
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE' || attempts === PORT_RANGE.maxAttempts) throw error;
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
 * @param timeoutMs how long a taken port may still become free
 * @throws UserError, a line for each port that is taken or wanted twice
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

async function findProblem({ variable, host, port, hint }: Port): Promise<string[]> {
  try {
    await assertListenable(host, port);
    return [];
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE') {
      const remedy = `Set ${variable} to a free one, or stop what uses it.`;
      return [[`Port ${port} is taken.`, remedy, ...(hint === undefined ? [] : [hint])].join(' ')];
    }
    return [
      `${host}:${port} cannot be listened on (${code ?? messageOf(error)}). Set ${variable} to a port above 1023, or HOST to an address of this machine.`,
    ];
  }
}

/** @throws the error of the operating system */
async function assertListenable(host: string, port: number): Promise<void> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
