import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Connections that the kernel has accepted and Node.js has not: the default of `listen`. */
const ACCEPT_BACKLOG = 511;

/** A connected client gets this time to send its request. */
const IDLE_GRACE_MS = 500;

export interface ShutdownTimes {
  /** The server still accepts connections for this time, and closes each after its response. */
  readonly drainMs?: number;
  /** After the drain time. Requests that take longer are cut. */
  readonly timeoutMs: number;
}

/**
 * Prepares the shutdown of a server; call it before the server listens.
 * @returns a function that accepts no new connection after the drain time, completes the requests in flight, and closes
 * the server
 */
export function gracefulShutdown(server: Server, { drainMs = 0, timeoutMs }: ShutdownTimes): () => Promise<void> {
  const inFlight = new Map<Socket, Set<ServerResponse>>();
  let isClosing = false;
  const closeConnectionAfter = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  // A pipelined response that waits for its turn does not close when its connection is destroyed.
  server.on('connection', (socket) => {
    inFlight.set(socket, new Set());
    socket.once('close', () => inFlight.delete(socket));
  });
  // Before the application's own listener, which may respond synchronously.
  server.prependListener('request', (request, response) => {
    if (isClosing) closeConnectionAfter(response);
    const responses = inFlight.get(request.socket);
    responses?.add(response);
    response.once('close', () => responses?.delete(response));
  });
  return async () => {
    isClosing = true;
    inFlight.forEach((responses) => responses.forEach(closeConnectionAfter));
    await sleep(drainMs);
    // Closing the socket resets queued connections. libuv accepts one in each turn of the event loop.
    for (let turn = 0; turn <= ACCEPT_BACKLOG; turn += 1) await nextTurn();
    const closed = once(server, 'close');
    const timeout = setTimeout(() => server.closeAllConnections(), timeoutMs);
    server.close();
    await Promise.race([closed, sleep(IDLE_GRACE_MS, undefined, { ref: false })]);
    for (const [socket, responses] of inFlight) {
      for (const response of responses) await Promise.race([closeOf(response), closeOf(socket)]);
    }
    // Node.js would wait for connections without a request.
    server.closeAllConnections();
    await closed;
    clearTimeout(timeout);
  };
}

function closeOf(stream: ServerResponse | Socket): Promise<unknown> {
  return new Promise((resolve) => stream.once('close', resolve));
}
