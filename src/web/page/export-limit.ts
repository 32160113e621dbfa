import type { Pool } from '../../db/connection/pool';
import { HourlyLimit } from './hourly-limit';
import { PageError } from './page-error';

const EXPORTS_PER_HOUR = 6;
const MAX_PER_PROCESS = 4;
/** When a process at its limit can be asked again. */
const BUSY_SECONDS = 10;

/** Limits exports: one at a time and six an hour for each user, and four at a time for the process. */
export class ExportLimit {
  readonly #running = new Set<string>();
  readonly #hourly;

  constructor(db: Pool) {
    this.#hourly = new HourlyLimit(db, { name: 'export', perHour: EXPORTS_PER_HOUR });
  }

  /**
   * @returns what ends the export, which may be called more than once
   * @throws PageError `too_many_requests` with `Retry-After`
   */
  async start(userId: string): Promise<() => void> {
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
    return () => {
      if (isRunning) this.#running.delete(userId);
      isRunning = false;
    };
  }
}
