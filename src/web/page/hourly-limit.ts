import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from '../../db/connection/pool';
import { PageError } from './page-error';

const HOUR_SECONDS = 3_600;

/** Limits what may be done so often an hour, over all processes. */
export class HourlyLimit {
  readonly #table;

  constructor(
    db: Pool,
    private readonly settings: { readonly name: string; readonly perHour: number },
  ) {
    this.#table = new RateLimiterPostgres({
      storeClient: db,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      // Its timer outlives the process's shutdown. The API deletes what is expired.
      clearExpiredByTimeout: false,
      keyPrefix: settings.name,
      points: settings.perHour,
      duration: HOUR_SECONDS,
    });
  }

  /** Counts what costs as much as so many more, without a rejection: it has begun. */
  async add(owner: string, points: number): Promise<void> {
    await this.#table.penalty(owner, points);
  }

  /**
   * @param owner the id of whose count it is
   * @throws PageError `too_many_requests` with `Retry-After`
   */
  async count(owner: string): Promise<void> {
    try {
      await this.#table.consume(owner);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw new PageError('too_many_requests', `${this.settings.name} of ${owner}`, {
        'Retry-After': String(Math.max(Math.ceil(error.msBeforeNext / 1_000), 1)),
      });
    }
  }
}
