import { once } from 'node:events';
import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const READ_TIMEOUT_MS = 5_000;

/** Where Temporal's SDK serves its metrics: it accepts no port 0, and has no other way to read them. */
export interface SdkMetrics {
  /** `host:port`, on loopback. */
  readonly address: string;
  /** The page of the SDK. */
  read(): Promise<string>;
}

/** Chooses a free port. */
export async function createSdkMetrics(): Promise<SdkMetrics> {
  const address = `${LOOPBACK}:${await freeLoopbackPort()}`;
  return {
    address,
    async read() {
      const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
      return response.text();
    },
  };
}

async function freeLoopbackPort(): Promise<number> {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}
