import { cpuSecondsOf } from './cpu';

/** Process ids by their name in the report. Read again for each measurement: a restarted process has a new id. */
export type Processes = () => Readonly<Record<string, number | null>>;

export interface Reading {
  readonly operations: number;
  readonly seconds: number;
  /** Microseconds of the monotonic clock, which all processes of the machine share. */
  readonly endedAtUs: number;
  readonly perSecond: number;
  readonly failures: number;
  /** Milliseconds of CPU for each operation, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Milliseconds from request to response; empty if they were not measured. */
  readonly latenciesMs: readonly number[];
}

/** Measures time and CPU from `start` to `stop`. */
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
      endedAtUs: Number(process.hrtime.bigint() / 1_000n),
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
