import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A response of the API, of which a fault forwards a part or nothing. */
interface WholeResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

interface Exchange {
  readonly response: ServerResponse;
  /** Sends the request to the API. */
  readonly forward: () => Promise<WholeResponse>;
  /** Sends the head and half of the body to the API, then resets the connection. */
  readonly forwardHalf: () => Promise<void>;
}

const reset = ({ response }: Exchange): void => {
  response.socket?.resetAndDestroy();
};

function send({ response }: Exchange, { status, headers, body }: WholeResponse): void {
  response.writeHead(status, headers).end(body);
}

/** Each kind of network fault. The API executes the request in those that call `forward`. */
const NETWORK_FAULTS = {
  'a reset before the request': async (exchange: Exchange) => reset(exchange),
  'half a request, then a reset': async (exchange: Exchange) => {
    await exchange.forwardHalf();
    reset(exchange);
  },
  'a reset instead of the response': async (exchange: Exchange) => {
    await exchange.forward();
    reset(exchange);
  },
  'half a response, then a reset': async (exchange: Exchange) => {
    const { status, headers, body } = await exchange.forward();
    exchange.response.writeHead(status, headers).write(body.subarray(0, body.length / 2), () => reset(exchange));
  },
  'half a response, then an orderly end': async (exchange: Exchange) => {
    const { status, body } = await exchange.forward();
    exchange.response.writeHead(status, { connection: 'close' }).end(body.subarray(0, body.length / 2));
  },
  'no request and no response': async () => undefined,
  'a request, and no response': async (exchange: Exchange) => {
    await exchange.forward();
  },
  'bytes that are no HTTP': async ({ response, forward }: Exchange) => {
    await forward();
    response.socket?.end('\0\0\0\0');
  },
  'a 502 of a gateway, after the request': async ({ response, forward }: Exchange) => {
    await forward();
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
  },
  'a 503 of a gateway, before the request': async ({ response }: Exchange) => {
    response.writeHead(503, { 'retry-after': '0' }).end();
  },
  'the request twice, at the same time': async (exchange: Exchange) => {
    const [first] = await Promise.all([exchange.forward(), exchange.forward()]);
    send(exchange, first);
  },
} as const satisfies Record<string, (exchange: Exchange) => Promise<unknown>>;

export type NetworkFault = keyof typeof NETWORK_FAULTS;
export const FAULT_NAMES = Object.keys(NETWORK_FAULTS).filter((name): name is NetworkFault => name in NETWORK_FAULTS);

export interface FaultProxy {
  readonly url: string;
  /** How often each fault happened. */
  readonly counts: ReadonlyMap<NetworkFault, number>;
  close(): Promise<void>;
}

/**
 * A proxy between a client and the API.
 * @param chooseFault of a request with this idempotency key; undefined: the request and its response pass
 */
export async function startFaultProxy(
  apiUrl: string,
  chooseFault: (idempotencyKey: string) => NetworkFault | undefined,
): Promise<FaultProxy> {
  const counts = new Map<NetworkFault, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const server = createServer((incoming, response) => {
    void handle(incoming, response).catch(() => response.socket?.resetAndDestroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const exchange = {
      response,
      forward: () => forward(apiUrl, agent, incoming, body),
      forwardHalf: () => forwardHalf(apiUrl, incoming, body),
    };
    const fault = chooseFault(String(incoming.headers['idempotency-key']));
    if (fault === undefined) return send(exchange, await exchange.forward());
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    await NETWORK_FAULTS[fault](exchange);
  }

  return {
    url: `http://127.0.0.1:${address.port}`,
    counts,
    async close() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

/** `Connection` is about one connection only. */
function optionsOf({ method, headers: { connection: _connection, ...headers } }: IncomingMessage) {
  return { method, headers };
}

async function forward(apiUrl: string, agent: Agent, incoming: IncomingMessage, body: Buffer): Promise<WholeResponse> {
  const outgoing = request(`${apiUrl}${incoming.url}`, { ...optionsOf(incoming), agent }).end(body);
  const [response]: IncomingMessage[] = await once(outgoing, 'response');
  if (!response) throw new Error('The API has not responded');
  const type = response.headers['content-type'] ?? 'application/json';
  return { status: response.statusCode ?? 0, headers: { 'content-type': type }, body: await buffer(response) };
}

async function forwardHalf(apiUrl: string, incoming: IncomingMessage, body: Buffer): Promise<void> {
  const outgoing = request(`${apiUrl}${incoming.url}`, { ...optionsOf(incoming), agent: false });
  // The API may respond or reset first.
  outgoing.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    outgoing.write(body.subarray(0, body.length / 2), () => resolve());
  });
  outgoing.destroy();
}
