import type { Pool } from '../../db/connection/pool';
import { HourlyLimit } from './hourly-limit';
import { PageError } from './page-error';

const EXPORTS_PER_HOUR = 30;
/** An export of many rows counts so much: there are six of them an hour. */
const LARGE_EXPORT = 5;
const MAX_PER_PROCESS = 4;
/** When a process at its limit can be asked again. */
const BUSY_SECONDS = 10;

/** An export that has begun. */
export interface RunningExport {
  /** Called for an export of many rows. */
  readonly countAsLarge: () => Promise<void>;
  /** May be called more than once. */
  readonly end: () => void;
}

/**
 * Limits exports: one at a time, and 30 small or six large ones an hour for each user; four at a time for the process.
 */
export class ExportLimit {
  readonly #running = new Set<string>();
  readonly #hourly;

  constructor(db: Pool) {
    this.#hourly = new HourlyLimit(db, { name: 'export', perHour: EXPORTS_PER_HOUR });
  }

  /** @throws PageError `too_many_requests` with `Retry-After` */
  async start(userId: string): Promise<RunningExport> {
    if (this.#running.has(userId) || this.#running.size >= MAX_PER_PROCESS) {
      throw new PageError('too_many_requests', `exports in this process: ${this.#running.size}`, {
        'Retry-After': String(BUSY_SECONDS),
      });
    }
    this.#running.add(userId);
    try {
      await this.#hourly.count(userId);
    } catch (error) {
      this.#running.delete(userId);
      throw error;
    }
    let isRunning = true;
    return {
      countAsLarge: () => this.#hourly.add(userId, LARGE_EXPORT - 1),
      end: () => {
        if (isRunning) this.#running.delete(userId);
        isRunning = false;
      },
    };
  }
}
