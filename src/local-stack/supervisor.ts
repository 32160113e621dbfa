import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors';
import type { ManagedProcess } from './managed-process';

/** Starts a process and resolves when it is ready. Called again after each unexpected end. */
export type StartProcess = (signal: AbortSignal) => Promise<ManagedProcess>;

interface Service {
  readonly start: StartProcess;
  readonly stopping: AbortController;
  process: ManagedProcess;
  watching: Promise<void>;
}

const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 10_000;
/** After this uptime, the restart delay starts from its initial value. */
const STABLE_MS = 30_000;

/** Restarts named processes that end unexpectedly, with exponential backoff. */
export class Supervisor {
  private readonly services = new Map<string, Service>();

  /** @param log receives one line for each unexpected end and each restart */
  constructor(private readonly log: (line: string) => void) {}

  /** Resolves when the process is ready. A failed first start is not repeated. */
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

  async stop(name: string): Promise<void> {
    const service = this.services.get(name);
    if (!service) return;
    service.stopping.abort();
    await service.process.stop();
    await service.watching;
    this.services.delete(name);
  }

  async stopAll(names: readonly string[]): Promise<void> {
    for (const name of names) await this.stop(name);
  }

  /** The id of the running process of this name. */
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
      const reason = exit.signal ?? `exit code ${exit.code}`;
      this.log(`${name} ended unexpectedly (${reason}), restarting. Log: ${service.process.logFile}`);
      if (performance.now() - startedAt > STABLE_MS) delayMs = INITIAL_DELAY_MS;
      const successor = await this.restart(name, service, delayMs);
      if (!successor) return;
      service.process = successor;
      // Stopped while the successor was starting.
      if (service.stopping.signal.aborted) return successor.stop();
      delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    }
  }

  /** @returns the new process; null if stopped before it is ready */
  private async restart(name: string, service: Service, initialDelayMs: number): Promise<ManagedProcess | null> {
    for (let delayMs = initialDelayMs; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      try {
        await sleep(delayMs, undefined, { signal: service.stopping.signal });
        const successor = await service.start(service.stopping.signal);
        this.log(`${name} is running again.`);
        return successor;
      } catch (error) {
        if (service.stopping.signal.aborted) return null;
        this.log(`${name} restart failed: ${messageOf(error)}`);
      }
    }
  }
}
