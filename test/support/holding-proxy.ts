import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { eventually } from './eventually';

/** A loopback HTTP proxy that keeps requests back before the target receives them. Close it in `afterAll`. */
export interface HoldingProxy {
  readonly url: string;
  /** The most requests that were kept back at the same time. */
  readonly mostHeld: number;
  /** How many requests with this end of their path, and this text in their body, have come. */
  countOf(pathEnd: string, text: string): number;
  /** From now on, requests with this end of their path are kept back. */
  hold(pathEnd: string): void;
  /** Resolves when a request is kept back. */
  waitForHeld(): Promise<void>;
  /** Lets all of them pass, and later ones too. */
  release(): void;
  /** Resets the connections of those that are kept back. Later ones are kept back too. */
  reset(): void;
  close(): Promise<void>;
}

export async function startHoldingProxy(targetUrl: string): Promise<HoldingProxy> {
  const requests: { readonly url: string; readonly body: string }[] = [];
  const held = new Map<ServerResponse, () => void>();
  let heldPath: string | undefined;
  let mostHeld = 0;
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.socket?.resetAndDestroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/', method, headers } = incoming;
    const body = await buffer(incoming);
    requests.push({ url, body: body.toString() });
    if (heldPath !== undefined && url.endsWith(heldPath)) await keepBack(response);
    if (response.destroyed) return;
    const outgoing = request(targetUrl + url, { method, headers, agent: false }).end(body);
    const [received]: IncomingMessage[] = await once(outgoing, 'response');
    if (!received) throw new Error('The target has not responded');
    const content = await buffer(received);
    response.writeHead(received.statusCode ?? 0, received.headers).end(content);
  }

  /** Until it is released, or its client has closed the connection. */
  function keepBack(response: ServerResponse): Promise<void> {
    return new Promise((pass) => {
      const end = () => {
        held.delete(response);
        pass();
      };
      held.set(response, end);
      mostHeld = Math.max(mostHeld, held.size);
      response.on('close', end);
    });
  }

  return {
    url: `http://127.0.0.1:${address.port}`,
    get mostHeld() {
      return mostHeld;
    },
    countOf: (pathEnd, text) => requests.filter(({ url, body }) => url.endsWith(pathEnd) && body.includes(text)).length,
    hold(pathEnd) {
      heldPath = pathEnd;
      mostHeld = 0;
    },
    async waitForHeld() {
      await eventually(
        async () => held.size,
        (size) => size > 0,
      );
    },
    release() {
      heldPath = undefined;
      for (const end of held.values()) end();
    },
    reset() {
      for (const response of held.keys()) response.socket?.resetAndDestroy();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
