import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { MetricsAddress } from '../config';
import type { Logger } from './logger';
import type { GaugeReader } from './metrics';
import { renderMetrics } from './prometheus';

export interface PlainResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** By path. */
export type PlainRoutes = Readonly<Record<string, () => Promise<PlainResponse>>>;

const NOT_FOUND: PlainResponse = { status: 404, contentType: 'text/plain; charset=utf-8', body: 'Not found.\n' };
const FAILED: PlainResponse = { status: 500, contentType: 'text/plain; charset=utf-8', body: 'Failed.\n' };

/** The response to a scrape. @param appended more metrics, as text */
export async function metricsPage(readers: readonly GaugeReader[], appended = ''): Promise<PlainResponse> {
  const body = (await renderMetrics(readers)) + appended;
  return { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body };
}

/** The listener for Prometheus and for the probes of the worker. Its routes need no key and read no request. */
export async function startMetricsServer(
  { host, port }: MetricsAddress,
  routes: PlainRoutes,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void respond(request.url ?? '', routes, log).then(({ status, contentType, body }) =>
      response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(body),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return { close: () => close(server) };
}

async function respond(url: string, routes: PlainRoutes, log: Logger): Promise<PlainResponse> {
  const [path = ''] = url.split('?');
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  try {
    return (await route?.()) ?? NOT_FOUND;
  } catch (error) {
    log.warn({ err: error, path }, 'metrics request failed');
    return FAILED;
  }
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
