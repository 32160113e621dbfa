import { once } from 'node:events';
import { createServer } from 'node:http';

const LIFE_DEADLINE_MS = 60_000;
/** `created`, `pending`, `paid`, `settled`. */
const EVENTS_OF_A_LIFE = 4;
const PAYMENT_ID = /"id":"([0-9a-f-]{36})"/;

/** The merchants' server. What it does depends on the path of the endpoint. */
export interface Receiver {
  readonly url: string;
  /** Resolves when all four webhooks of a life have come to `/lives`. @throws when that takes longer than a minute */
  life(paymentId: string): Promise<void>;
  /** Resolves at the `count`th request to `/sink` from now on; `onFirst` is called at the first. */
  sink(count: number, onFirst: () => void): Promise<void>;
  close(): Promise<void>;
}

/** `/lives` counts by payment, `/sink` only counts, `/healthy` answers, `/hanging` never does. */
export async function startReceiver(): Promise<Receiver> {
  const eventsOf = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  let sink = { left: 0, hasBegun: true, onFirst: (): void => undefined, onLast: (): void => undefined };

  const server = createServer((request, response) => {
    if (request.url === '/hanging') return void request.resume();
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      response.writeHead(200, { 'content-length': '0' }).end();
      if (request.url === '/lives') countLife(PAYMENT_ID.exec(body)?.[1] ?? '');
      if (request.url === '/sink') countSink();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');

  function countLife(paymentId: string): void {
    const count = (eventsOf.get(paymentId) ?? 0) + 1;
    eventsOf.set(paymentId, count);
    if (count >= EVENTS_OF_A_LIFE) waiting.get(paymentId)?.();
  }

  function countSink(): void {
    if (!sink.hasBegun) sink.onFirst();
    sink.hasBegun = true;
    sink.left -= 1;
    if (sink.left === 0) sink.onLast();
  }

  return {
    url: `http://127.0.0.1:${address.port}`,
    life(paymentId) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`Payment ${paymentId} has had ${eventsOf.get(paymentId) ?? 0} webhooks in a minute`));
        }, LIFE_DEADLINE_MS);
        const finish = (): void => {
          clearTimeout(timer);
          waiting.delete(paymentId);
          eventsOf.delete(paymentId);
          resolve();
        };
        if ((eventsOf.get(paymentId) ?? 0) >= EVENTS_OF_A_LIFE) finish();
        else waiting.set(paymentId, finish);
      });
    },
    sink(count, onFirst) {
      return new Promise((resolve) => {
        sink = { left: count, hasBegun: false, onFirst, onLast: resolve };
      });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
