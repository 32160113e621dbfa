import { once } from 'node:events';
import type { Server } from 'node:http';
import type { ListenOptions } from 'node:net';
import { gracefulShutdown, type ShutdownTimes } from '../lib/graceful-shutdown';

/**
 * Limits for slow callers; `request-body.ts` limits the body. Load balancers keep an idle connection for 60 s. The API
 * keeps it for longer: closing it first could cut a request that the load balancer has just sent.
 */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 75_000,
} as const;

/** Longer than the 10 s of a request, shorter than the 15 s in which the process must stop (`runService`). */
export const SHUTDOWN_TIMEOUT_MS = 12_000;

export const proxiesOf = (trustProxy: number | readonly string[]) => (typeof trustProxy === 'number' ? [] : trustProxy);

/** @returns a function that completes the requests in flight and closes the listener */
export async function listen(
  server: Server,
  address: ListenOptions,
  times: ShutdownTimes,
): Promise<() => Promise<void>> {
  const close = gracefulShutdown(server, times);
  server.listen(address);
  await once(server, 'listening');
  return close;
}
