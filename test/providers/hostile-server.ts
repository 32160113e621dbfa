import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Responses that are not those of an acquirer. */
const RESPONSES = {
  nothing: (response: ServerResponse) => void response.end(),
  'a gateway page': (response: ServerResponse) => void response.writeHead(502).end('<html>Bad Gateway</html>'),
  'an empty object': (response: ServerResponse) => void response.writeHead(200, JSON_TYPE).end('{}'),
  'a list': (response: ServerResponse) => void response.writeHead(200, JSON_TYPE).end('[[[["201"]]]]'),
  null: (response: ServerResponse) => void response.writeHead(200, JSON_TYPE).end('null'),
  'half of an object': (response: ServerResponse) => void response.writeHead(200, JSON_TYPE).end('{"status_code":"20'),
  'deeply nested JSON': (response: ServerResponse) => void response.writeHead(200, JSON_TYPE).end('['.repeat(60_000)),
  'bytes that are no text': (response: ServerResponse) => void response.end(Buffer.from([0xff, 0xfe, 0x00, 0x80])),
  'a body of megabytes': (response: ServerResponse) =>
    void response.writeHead(200, JSON_TYPE).end(' '.repeat(4_000_000)),
  'a broken connection': (response: ServerResponse) => void response.socket?.resetAndDestroy(),
  'a redirect': (response: ServerResponse) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  'no response': () => undefined,
  'one byte at a time': drip,
} as const;

export type HostileResponse = keyof typeof RESPONSES;

const ENDLESS: ReadonlySet<string> = new Set<HostileResponse>(['no response', 'one byte at a time']);

/** A server with responses that no acquirer should send. */
export interface HostileServer {
  readonly url: string;
  /** The responses that end by themselves. */
  readonly responses: readonly HostileResponse[];
  readonly paths: readonly string[];
  /** Since `reset`. */
  readonly connections: number;
  respondWith(current: HostileResponse): void;
  reset(): void;
  close(): Promise<void>;
}

export async function startHostileServer(): Promise<HostileServer> {
  let current: HostileResponse = 'nothing';
  let connections = 0;
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => RESPONSES[current](response));
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    responses: responsesThatEnd(),
    paths,
    get connections() {
      return connections;
    },
    respondWith(next) {
      current = next;
    },
    reset() {
      paths.length = 0;
      connections = 0;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function responsesThatEnd(): HostileResponse[] {
  const isEnding = (name: string): name is HostileResponse => name in RESPONSES && !ENDLESS.has(name);
  return Object.keys(RESPONSES).filter(isEnding);
}

/** One byte every 50 ms, without end. */
function drip(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE);
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}
