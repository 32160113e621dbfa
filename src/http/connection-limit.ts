import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { inNetworks, networkOf, SITE_GROUPS } from '../lib/networks';
import { Shares } from '../lib/shares';
import { ApiError } from './api-error';
import { canonicalAddress } from './auth/client-address';

/**
 * A client may have this many times its limit as connections that only get a 429: a shop opens some hundred in the
 * minute of a flash sale. Without a response, its HTTP client would report a failure of the network.
 */
const REJECTED_PER_SLOT = 4;
/** The limit of rejected connections of all clients together. Each takes about 10 kB. */
const MAX_REJECTED = 1_000;
/** A connection beyond the limit has this time for its request and the response. */
const REJECTED_LIFETIME_MS = 3_000;
const RETRY_AFTER_SECONDS = 1;

/** The connections beyond the limit of their client. */
const rejected = new WeakSet<Socket>();

/**
 * Limits the connections of each client to all listeners of a process. Further ones get a 429 to their first request
 * (`rejectBeyondLimit`), as long as these are few. The others are closed without a response.
 */
export class ConnectionLimit {
  readonly #shares = new Shares();

  constructor(private readonly maxPerClient: number) {}

  /**
   * Call it before the server listens.
   * @param proxies addresses and networks whose connections are those of many clients
   */
  limit(server: Server, proxies: readonly string[]): void {
    const isExempt = inNetworks(proxies);
    server.prependListener('connection', (socket: Socket) => {
      const address = canonicalAddress(socket.remoteAddress ?? '');
      if (isExempt(address)) return;
      this.#count(networkOf(address, SITE_GROUPS), socket);
    });
  }

  #count(client: string, socket: Socket): void {
    const served = [{ owner: client, max: this.maxPerClient }];
    const isServed = this.#shares.findExhausted(served) === undefined;
    const shares = isServed ? served : this.#rejectedShares(client);
    if (this.#shares.findExhausted(shares)) return void socket.destroy();
    socket.once('close', this.#shares.hold(shares));
    if (!isServed) markRejected(socket);
  }

  #rejectedShares(client: string) {
    return [
      { owner: `rejected ${client}`, max: this.maxPerClient * REJECTED_PER_SLOT },
      { owner: 'rejected', max: MAX_REJECTED },
    ];
  }
}

function markRejected(socket: Socket): void {
  rejected.add(socket);
  const timer = setTimeout(() => socket.destroy(), REJECTED_LIFETIME_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/**
 * Reads the request first: closing a connection with unread bytes would reset it, and the caller could lose the
 * response.
 * @throws ApiError `connections_open`, after which the connection is closed, if it is beyond the limit of its client
 */
export async function rejectBeyondLimit(request: IncomingMessage): Promise<void> {
  if (!rejected.has(request.socket)) return;
  request.resume();
  await new Promise((resolve) => request.once('close', resolve));
  const message = 'Your network has too many open connections. Use fewer at the same time, and keep them open.';
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS), Connection: 'close' };
  throw new ApiError('connections_open', message, { headers });
}
