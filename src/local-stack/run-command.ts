import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../errors';
import { killOnExit, signalGroup, type Command } from './process-group';

interface CommandOptions extends Command {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with each line that the command prints. */
  readonly onLine?: (line: string) => void;
}

const MAX_LINES = 200;
const INTERRUPT_GRACE_MS = 3000;

/**
 * Runs a command in a process group of its own; an abort or the timeout stops the whole group.
 * @returns the last 200 lines of stdout and stderr together
 * @throws UserError with the last 10 lines if the command fails; the signal's reason if aborted
 */
export async function runCommand(options: CommandOptions): Promise<string> {
  const { command, args, env = process.env, timeoutMs, signal, onLine, ...spawnOptions } = options;
  signal.throwIfAborted();
  const child = spawn(command, args, { ...spawnOptions, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  killOnExit(child);
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
      onLine?.(line);
    });
  }
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const closed = new Promise<string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, exitSignal) => resolve(exitSignal ?? (code === 0 ? null : `exit code ${code}`)));
  });

  let isTimedOut = false;
  const stop = (): void => void stopGroup(child.pid, exited);
  const timer = setTimeout(() => {
    isTimedOut = true;
    stop();
  }, timeoutMs);
  signal.addEventListener('abort', stop);
  const failure = await closed;
  signal.removeEventListener('abort', stop);
  clearTimeout(timer);
  signal.throwIfAborted();
  if (isTimedOut) throw new UserError(`${command} did not end within ${Math.round(timeoutMs / 1000)} s`);
  if (failure === null) return lines.join('\n');
  throw new UserError([`${command}: ${failure}`, ...lines.slice(-10)].join('\n'));
}

async function stopGroup(pid: number | undefined, exited: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGINT');
  await Promise.race([exited, sleep(INTERRUPT_GRACE_MS, undefined, { ref: false })]);
  // Also if the command itself has ended: its children may still run.
  signalGroup(pid, 'SIGKILL');
}
