import { cpuSecondsOf } from './cpu';

/** The processes whose CPU is counted, by the name that the report has for them. Read anew: a restarted one has a new id. */
export type Processes = () => Readonly<Record<string, number | null>>;

/** What one stretch of work has taken. */
export interface Reading {
  readonly operations: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly failures: number;
  /** Milliseconds of CPU for each operation, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Milliseconds from asking to the answer, where they were taken. */
  readonly latenciesMs: readonly number[];
}

/** Takes time and CPU from `start` to `stop`. */
export class Meter {
  #startedAt = 0;
  #before: Record<string, number> = {};

  constructor(private readonly processes: Processes) {}

  start(): void {
    this.#before = this.#cpuSeconds();
    this.#startedAt = performance.now();
  }

  stop(operations: number, failures = 0, latenciesMs: readonly number[] = []): Reading {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const used = Object.entries(this.#cpuSeconds()).map(([name, after]) => {
      const usedSeconds = Math.max(after - (this.#before[name] ?? 0), 0);
      return [name, (usedSeconds * 1_000) / Math.max(operations, 1)] as const;
    });
    return {
      operations,
      seconds,
      perSecond: operations / seconds,
      failures,
      cpuMs: Object.fromEntries(used),
      latenciesMs,
    };
  }

  #cpuSeconds(): Record<string, number> {
    const { user, system } = process.cpuUsage();
    const others = Object.entries(this.processes()).map(([name, pid]) => [name, pid === null ? 0 : cpuSecondsOf(pid)]);
    return { generator: (user + system) / 1e6, ...Object.fromEntries(others) };
  }
}
