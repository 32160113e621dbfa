import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { reportSchema, type BreakpointCommand } from './breakpoint';
import type { KillPoint, Witness } from './kill-points';
import { settingsEnvironment, type FaultSettings } from './settings';

export interface Launch {
  readonly name: Witness;
  /** The compiled entry point, which gets the name. */
  readonly entry: string;
  readonly settings: FaultSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly logFile: string;
}

const START_TIMEOUT_MS = 60_000;

/** An API or one of the two workers in its own process, with breakpoints. */
export class ServiceProcess {
  private constructor(
    readonly name: Witness,
    private readonly child: ChildProcess,
  ) {}

  /** @throws Error if the process ends before it is ready */
  static async start({ name, entry, settings, environment, logFile }: Launch): Promise<ServiceProcess> {
    const log = openSync(logFile, 'a', 0o600);
    const child = fork(entry, [name], {
      env: { ...settingsEnvironment(settings), ...environment },
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const started = new ServiceProcess(name, child);
    const exitedEarly = started.exited.then(() => {
      throw new Error(`${name} ended at its start; its log is ${logFile}`);
    });
    try {
      await Promise.race([started.waitForReport('ready', START_TIMEOUT_MS), exitedEarly]);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    exitedEarly.catch(() => undefined);
    return started;
  }

  get exited(): Promise<unknown> {
    return this.running ? once(this.child, 'exit') : Promise.resolve();
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** @returns whether a payment reached the breakpoint, at the given occurrence, before the timeout */
  async armBreakpoint(point: KillPoint, occurrence: number, timeoutMs: number): Promise<boolean> {
    this.command({ arm: point, occurrence });
    const reached = await this.waitForReport('reached', timeoutMs).then(
      () => true,
      () => false,
    );
    if (!reached) {
      this.command({ disarm: true });
      this.resume();
    }
    return reached;
  }

  /** Resumes the payment that waits at the breakpoint. */
  resume(): void {
    this.command({ resume: true });
  }

  private command(command: BreakpointCommand): void {
    // A process that was just killed has no channel.
    if (this.child.connected) this.child.send(command, () => undefined);
  }

  private async waitForReport(what: 'ready' | 'reached', timeoutMs: number): Promise<void> {
    const timeout = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const [message] = await once(this.child, 'message', { signal: timeout });
      if (what in reportSchema.parse(message)) return;
    }
  }
}
