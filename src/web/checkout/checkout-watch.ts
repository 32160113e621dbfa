import type { Response } from 'express';
import type { Queryable } from '../../db/connection/pool';
import { type CheckoutStatus, findCheckoutStatuses } from '../../db/queries/find-checkout';
import type { Logger } from '../../observability/logger';

const INTERVAL_MS = 1_000;
/** A comment after this many intervals, so that proxies do not close an idle connection. */
const INTERVALS_PER_COMMENT = 15;
/** The browser connects again after this time. */
const RECONNECT = 'retry: 2000\n\n';
/** To a viewer without a place: the page reads its status every 10 s instead. */
const POLL = 'retry: 10000\nevent: status\ndata: {}\n\n';

interface Viewer {
  readonly response: Response;
  /** The status that the page shows. */
  statusKey: string;
}

interface WatchSettings {
  readonly maxConnections: number;
  readonly log: Logger;
}

/** Two statuses with the same key have the same page. */
export function statusKeyOf({ version, latePayment }: CheckoutStatus): string {
  return latePayment === null ? String(version) : `${version}-${latePayment}`;
}

/**
 * The event streams of all open checkout pages. One statement per second reads the status of all watched payments;
 * without a viewer there is none. At most half of the process's connections are streams.
 */
export class CheckoutWatch {
  readonly #viewers = new Map<string, Set<Viewer>>();
  readonly #maxViewers: number;
  readonly #log: Logger;
  #count = 0;
  #intervals = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    private readonly db: Queryable,
    { maxConnections, log }: WatchSettings,
  ) {
    this.#maxViewers = Math.floor(maxConnections / 2);
    this.#log = log;
  }

  /** Sends an event when the payment's status differs from the one that the page shows. */
  add(paymentId: string, statusKey: string, response: Response): void {
    if (response.req.method === 'HEAD') return void response.end();
    if (this.#isStopped) return void response.end(RECONNECT);
    if (this.#count >= this.#maxViewers) return void response.end(POLL);
    const viewer = { response, statusKey };
    this.#viewers.set(paymentId, (this.#viewers.get(paymentId) ?? new Set()).add(viewer));
    this.#count += 1;
    response.once('close', () => this.#remove(paymentId, viewer));
    response.write(RECONNECT);
    this.#schedule();
  }

  /** Ends all streams: the browsers connect again, to another process. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const { response } of this.#all()) response.end();
  }

  #all(): Viewer[] {
    return [...this.#viewers.values()].flatMap((viewers) => Array.from(viewers));
  }

  #remove(paymentId: string, viewer: Viewer): void {
    const viewers = this.#viewers.get(paymentId);
    viewers?.delete(viewer);
    this.#count -= 1;
    if (viewers?.size === 0) this.#viewers.delete(paymentId);
  }

  #schedule(): void {
    if (this.#isStopped || this.#count === 0) return;
    this.#timer ??= setTimeout(() => void this.#tick(), INTERVAL_MS).unref();
  }

  async #tick(): Promise<void> {
    try {
      const statuses = await findCheckoutStatuses(this.db, [...this.#viewers.keys()]);
      for (const status of statuses.values()) this.#send(status);
    } catch (error) {
      this.#log.warn({ err: error }, 'checkout statuses not read');
    }
    this.#intervals += 1;
    if (this.#intervals % INTERVALS_PER_COMMENT === 0) this.#sendComments();
    this.#timer = undefined;
    this.#schedule();
  }

  #send(status: CheckoutStatus): void {
    const statusKey = statusKeyOf(status);
    for (const viewer of this.#viewers.get(status.id) ?? []) {
      if (viewer.statusKey === statusKey) continue;
      viewer.statusKey = statusKey;
      write(viewer.response, `id: ${statusKey}\nevent: status\ndata: ${JSON.stringify({ status: status.status })}\n\n`);
    }
  }

  #sendComments(): void {
    for (const { response } of this.#all()) write(response, ':\n\n');
  }
}

/** A viewer that does not read must not fill the memory. */
function write(response: Response, text: string): void {
  if (response.writableNeedDrain) response.destroy();
  else response.write(text);
}
