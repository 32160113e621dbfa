import type { Queryable } from '../../db/connection/pool';
import type { Logger } from '../../observability/logger';
import { recordEndedStep } from '../audit/user-audit';

/**
 * Records the rejected sign-ins of known users beside their responses: with the statement, a response would take longer
 * if the e-mail is known.
 */
export class RejectedSignIns {
  readonly #writes = new Set<Promise<void>>();

  constructor(
    private readonly db: Queryable,
    private readonly log: Pick<Logger, 'error'>,
  ) {}

  record(userId: string, address: string): void {
    const by = { userId, merchantId: null, address, log: this.log };
    const write = recordEndedStep(this.db, by, { action: 'session.sign_in', target: userId }, 'credentials')
      .catch((error: unknown) => this.log.error({ err: error, userId }, 'rejected sign-in not recorded'))
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** Waits for what is being written, before the pool is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#writes);
  }
}
