import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { settingsEnvironment, type FaultSettings } from './settings';
import { reportSchema, type Order } from './trap';
import type { KillPoint, Witness } from './points';

export interface Launch {
  readonly name: Witness;
  /** The compiled entry. */
  readonly entry: string;
  readonly settings: FaultSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly logFile: string;
}

const START_TIMEOUT_MS = 60_000;

/** An API or a worker in a process of its own, that stops where it is told to. */
export class ServiceProcess {
  private constructor(
    readonly name: Witness,
    private readonly child: ChildProcess,
  ) {}

  /** @throws when it ends instead of getting ready */
  static async start({ name, entry, settings, environment, logFile }: Launch): Promise<ServiceProcess> {
    const log = openSync(logFile, 'a', 0o600);
    const child = fork(entry, [], {
      env: { ...settingsEnvironment(settings), ...environment },
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const started = new ServiceProcess(name, child);
    const ended = started.exited.then(() => {
      throw new Error(`${name} ended at its start; its log is ${logFile}`);
    });
    try {
      await Promise.race([started.hears('ready', START_TIMEOUT_MS), ended]);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    ended.catch(() => undefined);
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

  /** Sets a trap; resolves when a payment is in it, for the `passage`th time, or with false after a while. */
  async trap(point: KillPoint, passage: number, timeoutMs: number): Promise<boolean> {
    this.order({ arm: point, passage });
    const reached = await this.hears('reached', timeoutMs).then(
      () => true,
      () => false,
    );
    if (!reached) {
      this.order({ disarm: true });
      this.goOn();
    }
    return reached;
  }

  /** Lets the payment out of the trap. */
  goOn(): void {
    this.order({ goOn: true });
  }

  private order(order: Order): void {
    // One that has just died hears nothing.
    if (this.child.connected) this.child.send(order, () => undefined);
  }

  private async hears(what: 'ready' | 'reached', timeoutMs: number): Promise<void> {
    const tooLate = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const [message] = await once(this.child, 'message', { signal: tooLate });
      if (what in reportSchema.parse(message)) return;
    }
  }
}
