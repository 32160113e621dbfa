import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

const LIFECYCLE_TIMEOUT_MS = 60_000;
/** `created`, `pending`, `paid`, `settled`. */
const EVENTS_PER_LIFECYCLE = 4;
/** The second one is of Kill Bill. */
const PAYMENT_ID = /"(?:id|objectId)":"([0-9a-f-]{36})"/;
const UPDATED_AT = /"updated_at":"([^"]+)"/;

/** The merchants' server. Its response depends on the path of the endpoint. */
export interface BenchmarkReceiver {
  readonly url: string;
  /** Resolves when `/lifecycles` has all webhooks of a payment, by default 4. @throws Error after one minute */
  lifecycle(paymentId: string, events?: number): Promise<void>;
  /** Resolves when `/lifecycles` receives this payment's `payment.paid`, from now on. */
  paid(paymentId: string): Promise<void>;
  /** Resolves when `/finished` receives the id of this bare lifecycle, from now on. */
  finished(workflowId: string): Promise<void>;
  /** Resolves at the `count`th request to `/sink` from now on; `onFirst` is called at the first. */
  sink(count: number, onFirst: () => void): Promise<void>;
  /** @returns the milliseconds from each event to its arrival at `/timed`, since the last call */
  takeLatencies(): number[];
  close(): Promise<void>;
}

const paidKey = (paymentId: string): string => `paid ${paymentId}`;

/**
 * `/lifecycles` counts by payment, `/finished` takes an id, `/sink` counts, `/timed` takes the time; `/hanging` never
 * sends a response.
 */
export async function startBenchmarkReceiver(): Promise<BenchmarkReceiver> {
  const eventCounts = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const latenciesMs: number[] = [];
  let sink = { left: 0, hasBegun: true, onFirst: (): void => undefined, onLast: (): void => undefined };

  const server = createServer((request, response) => {
    if (request.url === '/hanging') return void request.resume();
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      response.writeHead(200, { 'content-length': '0' }).end();
      if (request.url === '/lifecycles')
        countEvent(PAYMENT_ID.exec(body)?.[1] ?? '', request.headers['x-service-event']);
      if (request.url === '/finished') waiting.get(body)?.();
      if (request.url === '/sink') countSink();
      if (request.url === '/timed') latenciesMs.push(Date.now() - Date.parse(UPDATED_AT.exec(body)?.[1] ?? ''));
    });
  });
  const url = await listen(server);

  function countEvent(paymentId: string, event: string | string[] | undefined): void {
    if (event === 'payment.paid') waiting.get(paidKey(paymentId))?.();
    eventCounts.set(paymentId, (eventCounts.get(paymentId) ?? 0) + 1);
    waiting.get(paymentId)?.();
  }

  function countSink(): void {
    if (!sink.hasBegun) sink.onFirst();
    sink.hasBegun = true;
    sink.left -= 1;
    if (sink.left === 0) sink.onLast();
  }

  return {
    url,
    paid: (paymentId) => new Promise((resolve) => waiting.set(paidKey(paymentId), resolve)),
    finished: (workflowId) => new Promise((resolve) => waiting.set(workflowId, resolve)),
    lifecycle(paymentId, events = EVENTS_PER_LIFECYCLE) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`Payment ${paymentId} has had ${eventCounts.get(paymentId) ?? 0} webhooks in a minute`));
        }, LIFECYCLE_TIMEOUT_MS);
        const finishIfComplete = (): void => {
          if ((eventCounts.get(paymentId) ?? 0) < events) return;
          clearTimeout(timer);
          waiting.delete(paymentId);
          eventCounts.delete(paymentId);
          resolve();
        };
        waiting.set(paymentId, finishIfComplete);
        finishIfComplete();
      });
    },
    sink(count, onFirst) {
      return new Promise((resolve) => {
        sink = { left: count, hasBegun: false, onFirst, onLast: resolve };
      });
    },
    takeLatencies: () => latenciesMs.splice(0),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return `http://127.0.0.1:${address.port}`;
}
