import type { Response } from 'express';
import type { Queryable } from '../../db/connection/pool';
import { findCheckoutStatuses, type CheckoutStatus } from '../../db/payments/find-checkout';
import { ApiError } from '../../http/api-error';
import { clientAddress } from '../../http/auth/client-address';
import { COMMENT, eventText, writeOrDestroy } from '../../http/event-stream';
import { networkOf, SITE_GROUPS } from '../../lib/networks';
import { Shares, type Share } from '../../lib/shares';
import type { Logger } from '../../observability/logger';
import type { LostWorkflows } from '../../services/recovery/lost-workflows';

const INTERVAL_MS = 1_000;
/** Between two comments. */
const INTERVALS_PER_COMMENT = 15;
/** The browser connects again after its end. */
const LIFETIME_MS = 15 * 60_000;
/** The browser connects again after this time. */
const RECONNECT = eventText({ retryMs: 2_000 });
/** A page without a stream reads its status as often. */
const RETRY_AFTER_SECONDS = 10;
/** Between two readings of a user's session. */
const ACCESS_CHECK_MS = 60_000;
/** More open pages than this read their status without a stream. */
const MAX_OF_USER = 4;
const MAX_OF_PAYMENT = 10;
/** A mobile operator has many customers at one address. */
const MAX_OF_NETWORK = 50;

/** The user of the dashboard who watches a payment. */
export interface WatchingUser {
  readonly id: string;
  /** Whether the user may still see the payment. */
  readonly mayStillSee: () => Promise<boolean>;
}

/** What a page shows. */
export interface StreamedPage {
  readonly paymentId: string;
  readonly statusKey: string;
  /** Null: the link of the checkout page is enough. */
  readonly user: WatchingUser | null;
}

interface Viewer {
  readonly response: Response;
  readonly user: WatchingUser | null;
  readonly endAtMs: number;
  /** When the user's session is read next. */
  checkAtMs: number;
  /** The status that the page shows. */
  statusKey: string;
}

interface WatchSettings {
  readonly maxConnections: number;
  readonly log: Logger;
  readonly accessCheckMs?: number;
  readonly lostWorkflows: Pick<LostWorkflows, 'checkExpired'>;
}

/** Two statuses with the same key have the same page. */
export function statusKeyOf({ version, latePayment }: CheckoutStatus): string {
  return latePayment === null ? String(version) : `${version}-${latePayment}`;
}

/**
 * The event streams of all open pages that show a payment. One statement per second reads the status of all watched
 * payments; without a viewer there is none. At most half of the process's connections are streams, and each user,
 * payment and network has a share of them.
 */
export class CheckoutWatch {
  readonly #viewers = new Map<string, Set<Viewer>>();
  readonly #shares = new Shares();
  readonly #maxViewers: number;
  readonly #accessCheckMs: number;
  readonly #log: Logger;
  readonly #lostWorkflows: WatchSettings['lostWorkflows'];
  #intervals = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    private readonly db: Queryable,
    { maxConnections, log, lostWorkflows, accessCheckMs = ACCESS_CHECK_MS }: WatchSettings,
  ) {
    this.#accessCheckMs = accessCheckMs;
    this.#maxViewers = Math.floor(maxConnections / 2);
    this.#log = log;
    this.#lostWorkflows = lostWorkflows;
  }

  /**
   * Sends an event when the payment's status differs from the one that the page shows.
   * @throws ApiError `streams_open` with `Retry-After` if one of the shares is used up
   */
  add(page: StreamedPage, response: Response): void {
    // The client may have gone while its token was read: there is no further event then.
    if (response.closed) return;
    if (response.req.method === 'HEAD') return void response.end();
    if (this.#isStopped) return void response.end(RECONNECT);
    response.once('close', this.#holdShares(page, response));
    const { paymentId, statusKey, user } = page;
    const nowMs = performance.now();
    // After an outage all browsers connect within seconds: their sessions are read over a minute.
    const checkAtMs = nowMs + Math.random() * this.#accessCheckMs;
    const viewer = { response, user, statusKey, checkAtMs, endAtMs: nowMs + LIFETIME_MS };
    this.#viewers.set(paymentId, (this.#viewers.get(paymentId) ?? new Set()).add(viewer));
    response.once('close', () => this.#remove(paymentId, viewer));
    response.write(RECONNECT);
    this.#schedule();
  }

  /** @returns a function that returns the shares @throws ApiError `streams_open` */
  #holdShares({ paymentId, user }: StreamedPage, { req }: Response): () => void {
    const network = networkOf(clientAddress(req), SITE_GROUPS);
    const shares: Share[] = [
      ...(user === null ? [] : [{ owner: `user ${user.id}`, max: MAX_OF_USER }]),
      { owner: `payment ${paymentId}`, max: MAX_OF_PAYMENT },
      { owner: `network ${network}`, max: MAX_OF_NETWORK },
      { owner: 'process', max: this.#maxViewers },
    ];
    const exhausted = this.#shares.findExhausted(shares);
    if (exhausted === undefined) return this.#shares.hold(shares);
    throw new ApiError('streams_open', 'Too many pages are open. Read the page again after some seconds.', {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      internal: `event streams of ${exhausted.owner}`,
    });
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
    if (viewers?.size === 0) this.#viewers.delete(paymentId);
  }

  #schedule(): void {
    if (this.#isStopped || this.#viewers.size === 0) return;
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
    this.#checkAccess();
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

  #checkAccess(): void {
    const nowMs = performance.now();
    for (const viewer of this.#all()) {
      if (viewer.user === null || viewer.checkAtMs > nowMs) continue;
      viewer.checkAtMs = nowMs + this.#accessCheckMs;
      void this.#endUnlessAllowed(viewer.user, viewer.response);
    }
  }

  /** Ends the stream also if the session cannot be read: the browser connects again. */
  async #endUnlessAllowed({ mayStillSee }: WatchingUser, response: Response): Promise<void> {
    try {
      if (await mayStillSee()) return;
    } catch (error) {
      this.#log.warn({ err: error }, 'session of an event stream not read');
    }
    response.end();
  }

  #sendComments(): void {
    for (const { response } of this.#all()) writeOrDestroy(response, COMMENT);
  }
}
