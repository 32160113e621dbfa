import type { Response } from 'express';
import type { Queryable } from '../../db/connection/pool';
import { findCheckoutStatuses, type CheckoutStatus } from '../../db/queries/find-checkout';
import { COMMENT, eventText, writeOrDestroy } from '../../http/event-stream';
import type { Logger } from '../../observability/logger';
import type { LostWorkflows } from '../../services/recovery/lost-workflows';

const INTERVAL_MS = 1_000;
/** Between two comments. */
const INTERVALS_PER_COMMENT = 15;
/** The browser connects again after its end. */
const LIFETIME_MS = 15 * 60_000;
/** The browser connects again after this time. */
const RECONNECT = eventText({ retryMs: 2_000 });
/** To a viewer without a slot: the page reads its status every 10 s instead. */
const POLL = eventText({ retryMs: 10_000, event: 'status', data: {} });

interface Viewer {
  readonly response: Response;
  readonly endAtMs: number;
  /** The status that the page shows. */
  statusKey: string;
}

interface WatchSettings {
  readonly maxConnections: number;
  readonly log: Logger;
  readonly lifetimeMs?: number;
  readonly lostWorkflows: Pick<LostWorkflows, 'checkExpired'>;
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
  readonly #lifetimeMs: number;
  readonly #log: Logger;
  readonly #lostWorkflows: WatchSettings['lostWorkflows'];
  #count = 0;
  #intervals = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    private readonly db: Queryable,
    { maxConnections, log, lostWorkflows, lifetimeMs = LIFETIME_MS }: WatchSettings,
  ) {
    this.#lifetimeMs = lifetimeMs;
    this.#maxViewers = Math.floor(maxConnections / 2);
    this.#log = log;
    this.#lostWorkflows = lostWorkflows;
  }

  /** Sends an event when the payment's status differs from the one that the page shows. */
  add(paymentId: string, statusKey: string, response: Response): void {
    // The client may have gone while its token was read: there is no further event then.
    if (response.closed) return;
    if (response.req.method === 'HEAD') return void response.end();
    if (this.#isStopped) return void response.end(RECONNECT);
    if (this.#count >= this.#maxViewers) return void response.end(POLL);
    const viewer = { response, statusKey, endAtMs: performance.now() + this.#lifetimeMs };
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
      for (const status of statuses.values()) {
        this.#send(status);
        // The page was read before its deadline, and nothing else may happen to the payment.
        this.#lostWorkflows.checkExpired(status);
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'checkout statuses not read');
    }
    this.#endOld();
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
      const text = eventText({ id: statusKey, event: 'status', data: { status: status.status } });
      writeOrDestroy(viewer.response, text);
    }
  }

  #endOld(): void {
    const nowMs = performance.now();
    for (const { response, endAtMs } of this.#all()) if (endAtMs <= nowMs) response.end();
  }

  #sendComments(): void {
    for (const { response } of this.#all()) writeOrDestroy(response, COMMENT);
  }
}
