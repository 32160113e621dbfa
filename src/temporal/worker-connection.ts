import { NativeConnection, type Worker } from '@temporalio/worker';
import { messageOf } from '../errors';
import type { Logger } from '../logger';
import { watchCertificates } from './certificate-watch';
import { connectionOptions, type TemporalTarget } from './connection';

/**
 * The connection of the workers of a process. When the certificates are replaced, the workers continue on a new one:
 * they keep their workflows, and what is in flight.
 */
export class WorkerConnection {
  readonly #workers: Worker[] = [];
  readonly #replaced: NativeConnection[] = [];
  readonly #unsubscribe: (() => void) | undefined;
  readonly #stopWatching: () => void;
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

  /** For `Worker.create`. */
  get native(): NativeConnection {
    return this.connection;
  }

  /** The workers use each later connection too. */
  attach(workers: readonly Worker[]): void {
    this.#workers.push(...workers);
  }

  /** After the workers have stopped. */
  async close(): Promise<void> {
    this.#stopWatching();
    this.#unsubscribe?.();
    await this.#replacement;
    await Promise.all([this.connection, ...this.#replaced].map((connection) => connection.close()));
  }

  async #replace(): Promise<void> {
    try {
      const next = await NativeConnection.connect(connectionOptions(this.target));
      for (const worker of this.#workers) worker.connection = next;
      // It stays open for the calls in flight.
      this.#replaced.push(this.connection);
      this.connection = next;
    } catch (error) {
      this.log.error({ reason: messageOf(error) }, 'worker keeps its connection with the old certificates');
    }
  }
}
