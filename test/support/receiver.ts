import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A webhook as the merchant's server received it. */
export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value, … as they were received. */
  readonly rawHeaders: readonly string[];
  readonly rawBody: string;
  readonly body: Record<string, unknown>;
}

/** A merchant's server: it records its requests, and `respond` sends the responses. */
export interface Receiver {
  readonly url: string;
  readonly received: ReceivedWebhook[];
  /** Sends the response to a request; the default is 200. */
  respond: (response: ServerResponse, webhook: ReceivedWebhook) => void;
  waitFor(count: number, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks).toString('utf8');
      const webhook = { headers: request.headers, rawHeaders: request.rawHeaders, rawBody, body: JSON.parse(rawBody) };
      received.push(webhook);
      receiver.respond(response, webhook);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    received,
    respond: (response) => response.writeHead(200).end(),
    async waitFor(count, timeoutMs = 90_000) {
      const deadlineAtMs = Date.now() + timeoutMs;
      while (received.length < count) {
        if (Date.now() > deadlineAtMs)
          throw new Error(`${received.length} of ${count} webhooks came in ${timeoutMs} ms`);
        await sleep(20);
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** A merchant's check of the signature, without code of Lunas. @returns whether one `v1` is valid and recent */
export function verifySignature(webhook: ReceivedWebhook, secret: string, nowSeconds = Date.now() / 1_000): boolean {
  const parts = String(webhook.headers['x-service-signature']).split(',');
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  if (Math.abs(nowSeconds - Number(timestamp)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(webhook.rawBody).digest();
  return parts
    .filter((part) => part.startsWith('v1='))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
