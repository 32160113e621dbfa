import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from '../../db/connection/pool';
import { PageError } from './page-error';

const EXPORTS_PER_HOUR = 6;
const HOUR_SECONDS = 3_600;
const MAX_PER_PROCESS = 4;
/** When a process at its limit can be asked again. */
const BUSY_SECONDS = 10;

/** Limits exports: one at a time and six an hour for each user, and four at a time for the process. */
export class ExportLimit {
  readonly #running = new Set<string>();
  readonly #table;

  constructor(db: Pool) {
    this.#table = new RateLimiterPostgres({
      storeClient: db,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      // Its timer outlives the process's shutdown. The API deletes what is expired.
      clearExpiredByTimeout: false,
      keyPrefix: 'export',
      points: EXPORTS_PER_HOUR,
      duration: HOUR_SECONDS,
    });
  }

  /**
   * @returns what ends the export, which may be called more than once
   * @throws PageError `too_many_requests` with `Retry-After`
   */
  async start(userId: string): Promise<() => void> {
    if (this.#running.has(userId) || this.#running.size >= MAX_PER_PROCESS) {
      throw tooMany(`exports in this process: ${this.#running.size}`, BUSY_SECONDS);
    }
    this.#running.add(userId);
    try {
      await this.#table.consume(userId);
    } catch (error) {
      this.#running.delete(userId);
      if (!(error instanceof RateLimiterRes)) throw error;
      throw tooMany(`exports of the user ${userId}`, Math.max(Math.ceil(error.msBeforeNext / 1_000), 1));
    }
    let isRunning = true;
    return () => {
      if (isRunning) this.#running.delete(userId);
      isRunning = false;
    };
  }
}

const tooMany = (internal: string, seconds: number) =>
  new PageError('too_many_requests', internal, { 'Retry-After': String(seconds) });
