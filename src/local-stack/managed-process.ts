import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { killOnExit, signalGroup, type Command } from './process-group';

interface LaunchOptions extends Command {
  /** stdout and stderr are appended here. */
  readonly logFile: string;
  /** Opens an IPC channel. It closes when this process ends, even by kill -9, and so the child notices. */
  readonly ipc?: boolean;
  /** Sent in this order. After the last grace period, the process group is killed. */
  readonly stopSignals: readonly StopSignal[];
}

export interface StopSignal {
  readonly signal: NodeJS.Signals;
  readonly graceMs: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child in a process group of its own: Ctrl-C does not reach it, so that we can stop the children in order. */
export class ManagedProcess {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  private isReady = false;

  constructor(
    private readonly child: ChildProcess,
    private readonly options: LaunchOptions,
    /** Where the log of this process begins, in bytes: earlier ones have written to the same file. */
    private readonly logStart: number,
  ) {
    if (child.pid === undefined) throw new Error(`${options.command} has no process id`);
    this.pid = child.pid;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    child.on('message', (message) => {
      this.isReady ||= typeof message === 'object' && message !== null && 'ready' in message && message.ready === true;
    });
    // A message or signal to a child that has just ended. `exited` covers that.
    child.on('error', () => {});
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Whether the child has reported over IPC that it is ready. */
  get ready(): boolean {
    return this.isReady;
  }

  get logFile(): string {
    return this.options.logFile;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves when the process has ended, at the latest after all grace periods. */
  async stop(): Promise<void> {
    for (const { signal, graceMs } of this.options.stopSignals) {
      if (!this.running) break;
      this.kill(signal);
      await Promise.race([this.exited, sleep(graceMs, undefined, { ref: false })]);
    }
    if (this.running) {
      signalGroup(this.pid, 'SIGKILL');
      await this.exited;
    }
  }

  /** What this process has written. */
  async readLog(): Promise<string> {
    return text(createReadStream(this.options.logFile, { start: this.logStart })).catch(() => '');
  }

  /** The last lines of its log, for an error message. */
  async lastLogLines(count = 5): Promise<string> {
    return (await this.readLog()).trim().split('\n').slice(-count).join('\n');
  }
}

/**
 * Starts a process. Resolves after `untilReady`; stops the process if that rejects.
 * @throws the operating system's error if the command cannot be started; any error of `untilReady`
 */
export async function launch(
  options: LaunchOptions,
  untilReady?: (launched: ManagedProcess) => Promise<unknown>,
): Promise<ManagedProcess> {
  const log = await open(options.logFile, 'a', 0o600);
  try {
    const { size: logStart } = await log.stat();
    const child = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      uid: options.uid,
      gid: options.gid,
      detached: true,
      stdio: ['ignore', log.fd, log.fd, ...(options.ipc ? (['ipc'] as const) : [])],
    });
    await once(child, 'spawn');
    killOnExit(child);
    const launched = new ManagedProcess(child, options, logStart);
    await untilReady?.(launched).catch(async (error: unknown) => {
      await launched.stop();
      throw error;
    });
    return launched;
  } finally {
    await log.close();
  }
}
