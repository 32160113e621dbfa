import { once } from 'node:events';
import { createServer } from 'node:http';
import { verifySignature } from '../support/receiver';

/** One attempt of a delivery, as the merchant's server received it. */
export interface ReceivedAttempt {
  /** The URL that the worker sent it to. */
  readonly url: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly rawBody: string;
  readonly hasValidSignature: boolean;
  readonly responseStatus: number;
  /** By the clock of the harness. */
  readonly atMs: number;
}

/** A merchant's server that records each attempt. It rejects some first attempts with 500. */
export interface RecordingReceiver {
  readonly url: string;
  readonly attempts: readonly ReceivedAttempt[];
  /** Set after the endpoint at `url` is registered. */
  secret: string;
  /** Those of further endpoints, by their URLs, which begin with `url`. */
  readonly secrets: Map<string, string>;
  /** How far the clock of the worker, which signs, is ahead of the harness's clock. */
  senderClockSeconds: number;
  close(): Promise<void>;
}

/** @param failsNow drawn for each first attempt */
export async function startRecordingReceiver(failsNow: () => boolean): Promise<RecordingReceiver> {
  const attempts: ReceivedAttempt[] = [];
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers, rawHeaders } = request;
      const rawBody = Buffer.concat(chunks).toString('utf8');
      const deliveryId = String(headers['x-service-delivery']);
      const atMs = Date.now();
      const senderSeconds = atMs / 1_000 + receiver.senderClockSeconds;
      const isFirst = !seen.has(deliveryId);
      seen.add(deliveryId);
      const url = `${origin}${request.url}`;
      const secret = receiver.secrets.get(url) ?? receiver.secret;
      attempts.push({
        url,
        deliveryId,
        event: String(headers['x-service-event']),
        rawBody,
        hasValidSignature: verifySignature({ headers, rawHeaders, rawBody, body: {} }, secret, senderSeconds),
        responseStatus: isFirst && failsNow() ? 500 : 200,
        atMs,
      });
      response.writeHead(attempts.at(-1)?.responseStatus ?? 500).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const origin = `http://127.0.0.1:${port}`;
  const receiver: RecordingReceiver = {
    url: `${origin}/webhooks`,
    attempts,
    secret: '',
    secrets: new Map(),
    senderClockSeconds: 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
