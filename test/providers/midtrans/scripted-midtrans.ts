import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that records the adapter's requests and sends the given response. */
export interface ScriptedMidtrans {
  readonly url: string;
  readonly requests: RecordedRequest[];
  respond: (response: ServerResponse) => void;
  /** Responds with JSON, by default with HTTP 200. */
  respondWith(body: unknown, http?: number): void;
  close(): Promise<void>;
}

export async function startScriptedMidtrans(): Promise<ScriptedMidtrans> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      midtrans.requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') });
      midtrans.respond(response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const midtrans: ScriptedMidtrans = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    requests: [],
    respond: (response) => void response.writeHead(500).end(),
    respondWith(body, http = 200) {
      midtrans.respond = (response) => {
        response.writeHead(http, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      };
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return midtrans;
}
