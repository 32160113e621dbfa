import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

const JSON_TYPE = { 'content-type': 'application/json' };

/** What comes back in place of an answer of an acquirer, and whether it comes to an end by itself. */
const ANSWERS = {
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
  silence: () => undefined,
  'drops of an answer': drip,
} as const;

export type HostileAnswer = keyof typeof ANSWERS;

const ENDLESS: ReadonlySet<string> = new Set<HostileAnswer>(['silence', 'drops of an answer']);

/** A server that answers as no acquirer should. */
export interface HostileServer {
  readonly url: string;
  /** Those that come to an end by themselves. */
  readonly answers: readonly HostileAnswer[];
  readonly paths: readonly string[];
  /** New ones since `forget`. */
  readonly connections: number;
  answerWith(answer: HostileAnswer): void;
  forget(): void;
  close(): Promise<void>;
}

export async function startHostileServer(): Promise<HostileServer> {
  let answer: HostileAnswer = 'nothing';
  let connections = 0;
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => ANSWERS[answer](response));
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    answers: answersThatEnd(),
    paths,
    get connections() {
      return connections;
    },
    answerWith(next) {
      answer = next;
    },
    forget() {
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

function answersThatEnd(): HostileAnswer[] {
  const isEnding = (name: string): name is HostileAnswer => name in ANSWERS && !ENDLESS.has(name);
  return Object.keys(ANSWERS).filter(isEnding);
}

/** One byte every 50 ms, without end. */
function drip(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE);
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}
