import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors';
import type { ManagedProcess } from './managed-process';

/** Starts a process and resolves when it is ready; called again after each unexpected end. */
export type StartProcess = (signal: AbortSignal) => Promise<ManagedProcess>;

interface Service {
  readonly start: StartProcess;
  readonly stopping: AbortController;
  process: ManagedProcess;
  watching: Promise<void>;
}

const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 10_000;
/** After this long, an end is not one of a series. */
const STABLE_MS = 30_000;

/** Keeps named processes running: what ends unexpectedly is started again, ever more slowly while it keeps ending. */
export class Supervisor {
  private readonly services = new Map<string, Service>();

  /** @param log told of each unexpected end and each restart, one line */
  constructor(private readonly log: (line: string) => void) {}

  /** Resolves when the process is ready. A first start that fails is the caller's affair. */
  async start(name: string, start: StartProcess, signal: AbortSignal): Promise<void> {
    const service: Service = {
      start,
      stopping: new AbortController(),
      process: await start(signal),
      watching: Promise.resolve(),
    };
    service.watching = this.watch(name, service);
    this.services.set(name, service);
  }

  /** Stops it for good. */
  async stop(name: string): Promise<void> {
    const service = this.services.get(name);
    if (!service) return;
    service.stopping.abort();
    await service.process.stop();
    await service.watching;
    this.services.delete(name);
  }

  /** Stops all in the order given. */
  async stopAll(names: readonly string[]): Promise<void> {
    for (const name of names) await this.stop(name);
  }

  /** Sends a signal, as a fault would: what ends by it is started again. */
  kill(name: string, signal: NodeJS.Signals): void {
    this.services.get(name)?.process.kill(signal);
  }

  /** The id of the process that runs under this name right now. */
  pid(name: string): number | null {
    const running = this.services.get(name)?.process;
    return running?.running ? running.pid : null;
  }

  private async watch(name: string, service: Service): Promise<void> {
    let delayMs = INITIAL_DELAY_MS;
    for (;;) {
      const startedAt = performance.now();
      const exit = await service.process.exited;
      if (service.stopping.signal.aborted) return;
      this.log(
        `${name} ended unexpectedly (${exit.signal ?? `exit code ${exit.code}`}), starting it again. Log: ${service.process.logFile}`,
      );
      if (performance.now() - startedAt > STABLE_MS) delayMs = INITIAL_DELAY_MS;
      const successor = await this.restart(name, service, delayMs);
      if (!successor) return;
      service.process = successor;
      // It was to be stopped just when it became ready.
      if (service.stopping.signal.aborted) return successor.stop();
      delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    }
  }

  /** Tries until it runs, or until it is to be stopped. */
  private async restart(name: string, service: Service, initialDelayMs: number): Promise<ManagedProcess | null> {
    for (let delayMs = initialDelayMs; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      try {
        await sleep(delayMs, undefined, { signal: service.stopping.signal });
        const successor = await service.start(service.stopping.signal);
        this.log(`${name} runs again.`);
        return successor;
      } catch (error) {
        if (service.stopping.signal.aborted) return null;
        this.log(`${name} does not start again yet: ${messageOf(error)}`);
      }
    }
  }
}
