import type { Queryable } from '../db/connection/pool';
import { deleteOldRequests, recordRequests, type CompletedRequest } from '../db/operations/recorded-requests';
import type { Logger } from '../observability/logger';
import { increment } from '../observability/metrics';

/** `lunas logs` shows a request within two seconds. */
const WRITE_INTERVAL_MS = 500;
/** At most 4,000 requests per second are recorded: more than one process serves. */
const MAX_BUFFERED = 2_000;
const SWEEP_INTERVAL_MS = 60_000;

/**
 * The requests that `lunas logs` shows. No request waits for it: completed requests are written in batches, and what
 * cannot be written is counted and dropped.
 */
export class RequestLog {
  readonly #db: Queryable;
  readonly #log: Logger;
  readonly #keptRows: number;
  readonly #timers: readonly NodeJS.Timeout[];
  #buffer: CompletedRequest[] = [];
  #writing: Promise<void> | undefined;

  /** @param keptRows how many of the newest requests stay */
  constructor(db: Queryable, log: Logger, keptRows: number) {
    this.#db = db;
    this.#log = log;
    this.#keptRows = keptRows;
    this.#timers = [
      setInterval(() => this.#write(), WRITE_INTERVAL_MS).unref(),
      setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref(),
    ];
  }

  /** Keeps the request in memory until the next batch. */
  add(request: CompletedRequest): void {
    if (this.#buffer.length < MAX_BUFFERED) this.#buffer.push(request);
    else increment('lunas_requests_unrecorded_total', { reason: 'buffer_full' });
  }

  /** Writes what is left. Call it before the pool ends. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#writing;
    this.#write();
    await this.#writing;
  }

  /** One batch at a time, so that a slow database has at most one connection of the pool. */
  #write(): void {
    if (this.#writing || this.#buffer.length === 0) return;
    const batch = this.#buffer;
    this.#buffer = [];
    this.#writing = recordRequests(this.#db, batch)
      .catch((error: unknown) => {
        increment('lunas_requests_unrecorded_total', { reason: 'database' }, batch.length);
        this.#log.warn({ err: error, requests: batch.length }, 'requests not recorded');
      })
      .finally(() => (this.#writing = undefined));
  }

  #sweep(): void {
    deleteOldRequests(this.#db, this.#keptRows).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'cleanup of recorded requests failed'),
    );
  }
}
