import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../config';
import { killOnExit, signalGroup } from './process-group';

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with each line that the command prints. */
  readonly onLine?: (line: string) => void;
}

const MAX_LINES = 200;
const INTERRUPT_GRACE_MS = 3000;

/**
 * Runs a command to its end and gives what it printed (its last 200 lines, stdout and stderr together).
 * It has a process group of its own: an abort or the time-out ends whatever it has started as well.
 * @throws UserError with the command's last lines when it fails; the signal's reason when aborted
 */
export async function runCommand(options: CommandOptions): Promise<string> {
  const { command, args, timeoutMs, signal } = options;
  signal.throwIfAborted();
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    uid: options.uid,
    gid: options.gid,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  killOnExit(child);
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
      options.onLine?.(line);
    });
  }
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, exitSignal) => resolve(exitSignal ?? (code === 0 ? '' : `exit code ${code}`)));
  });

  const settled = new AbortController();
  const limit = sleep(timeoutMs, 'time-out', { signal: settled.signal }).catch(() => 'settled');
  const aborted = new Promise<string>((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true, signal: settled.signal });
  });
  const failure = await Promise.race([exited, limit, aborted]);
  settled.abort();
  if (failure === 'time-out' || failure === 'aborted') await stopGroup(child.pid, exited);
  signal.throwIfAborted();
  if (failure === 'time-out') throw new UserError(`${command} did not end within ${Math.round(timeoutMs / 1000)} s`);
  if (child.pid !== undefined) await closed;
  if (failure === '') return lines.join('\n');
  throw new UserError([`${command}: ${failure}`, ...lines.slice(-10)].join('\n'));
}

async function stopGroup(pid: number | undefined, exited: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGINT');
  await Promise.race([exited, sleep(INTERRUPT_GRACE_MS, undefined, { ref: false })]);
  // Also when the command itself has gone: what it started may still be there.
  signalGroup(pid, 'SIGKILL');
  await exited;
}
