import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import { watchCertificates } from '../temporal/certificate-watch';
import { connectionOptions, type TemporalTarget } from '../temporal/connection';

const RETRY_INTERVAL_MS = 5_000;

/**
 * The connection of the workers of a process. When the certificates are replaced, the workers continue on a new one:
 * they keep their workflows, and what is in flight.
 */
export class WorkerConnection {
  readonly #workers: Worker[] = [];
  readonly #replaced: NativeConnection[] = [];
  readonly #unsubscribe: (() => void) | undefined;
  readonly #stopWatching: () => void;
  readonly #closing = new AbortController();
  #replacement = Promise.resolve();

  private constructor(
    private readonly target: TemporalTarget,
    private readonly log: Logger,
    private connection: NativeConnection,
  ) {
    this.#stopWatching = watchCertificates(target, log);
    this.#unsubscribe = target.security.tls?.onReplaced(() => {
      this.#replacement = this.#replacement.then(() => this.#replace());
    });
  }

  static async open(target: TemporalTarget, log: Logger): Promise<WorkerConnection> {
    return new WorkerConnection(target, log, await NativeConnection.connect(connectionOptions(target)));
  }

  /** The connection for `Worker.create`. */
  get native(): NativeConnection {
    return this.connection;
  }

  /** The workers use each later connection too. */
  attach(workers: readonly Worker[]): void {
    this.#workers.push(...workers);
  }

  /** Closes the connection, after the workers have stopped. */
  async close(): Promise<void> {
    this.#stopWatching();
    this.#unsubscribe?.();
    this.#closing.abort();
    await this.#replacement;
    await Promise.all([this.connection, ...this.#replaced].map((connection) => connection.close()));
  }

  /** Connects until it succeeds: soon the old certificates may not be accepted any more. */
  async #replace(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        return await this.#useNewConnection();
      } catch (error) {
        this.log.error({ reason: messageOf(error) }, 'worker keeps its connection with the old certificates');
        await sleep(RETRY_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #useNewConnection(): Promise<void> {
    const next = await NativeConnection.connect(connectionOptions(this.target));
    for (const worker of this.#workers) worker.connection = next;
    // The last one stays open for the calls in flight. The one before has none any more.
    const unused = this.#replaced.splice(0);
    this.#replaced.push(this.connection);
    this.connection = next;
    await Promise.all(unused.map((connection) => connection.close()));
  }
}
