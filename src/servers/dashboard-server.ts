import { createServer } from 'node:http';
import type { MetricsAddress } from '../config';
import { ConnectionLimit } from '../http/connection-limit';
import { HTTP_LIMITS, listen, proxiesOf, SHUTDOWN_TIMEOUT_MS } from '../http/listener';
import { watchCertificates } from '../temporal/certificate-watch';
import { connectClient, type TemporalTarget } from '../temporal/connection';
import { payloadKeys } from '../temporal/payload-codec';
import { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { isLoopbackAddress } from '../web/dashboard/session/start';
import { startApiMetrics } from './api-metrics';
import { createDashboardApp } from './dashboard-app';
import { openDashboard, type DashboardDependencySettings } from './dashboard-dependencies';
import { startHeartbeat } from './heartbeat';

export interface DashboardSettings extends DashboardDependencySettings {
  readonly host: string;
  readonly port: number;
  readonly temporal: TemporalTarget;
  /** Hops or addresses of our own proxies (`TRUST_PROXY`); by default no forwarded address is trusted. */
  readonly trustProxy?: number | readonly string[];
  /** `MAX_CONNECTIONS_PER_CLIENT` */
  readonly maxConnectionsPerClient: number;
  /** `DRAIN_SECONDS`; by default 0. */
  readonly drainSeconds?: number;
  /** `METRICS_PORT`; without it the process serves no metrics. */
  readonly metrics?: MetricsAddress | undefined;
}

/**
 * The process of the merchants' pages. Resolves when it listens. `close` makes `/readyz` 503, serves for the drain
 * time, and completes the requests in flight.
 */
export async function startDashboard(settings: DashboardSettings): Promise<{ url: string; close(): Promise<void> }> {
  const { host, port, trustProxy = 0, drainSeconds = 0 } = settings;
  const { dependencies, pools, admission, close } = openDashboard(
    settings,
    (derivedKeys) => new PaymentWorkflowClient(connectClient(settings.temporal, payloadKeys(derivedKeys))),
  );
  const heartbeat = startHeartbeat(pools.readiness, ['dashboard'], settings.log);
  const stopWatching = watchCertificates(settings.temporal, settings.log);
  const metrics = await startApiMetrics(settings, pools, admission);
  const hasDevelopmentLinks = takesDevelopmentLinks(settings);
  const server = createServer(HTTP_LIMITS, createDashboardApp(dependencies, { trustProxy, hasDevelopmentLinks }));
  server.maxConnections = settings.maxConnections;
  const connections = new ConnectionLimit(settings.maxConnectionsPerClient);
  // Behind a number of proxies, every connection is one of a proxy.
  if (trustProxy === 0 || typeof trustProxy !== 'number') connections.limit(server, proxiesOf(trustProxy));
  const times = { drainMs: drainSeconds * 1_000, timeoutMs: SHUTDOWN_TIMEOUT_MS };
  const closeServer = await listen(server, { port, host }, times);
  return {
    url: settings.dashboardUrl,
    async close() {
      dependencies.readiness.stop();
      dependencies.checkoutWatch.stop();
      await closeServer();
      stopWatching();
      await heartbeat.stop();
      await close();
      await metrics?.close();
    },
  };
}

/** Only a sandbox that nothing but this machine reaches. */
function takesDevelopmentLinks({ environment, host, dashboardUrl }: DashboardSettings): boolean {
  const { protocol, hostname } = new URL(dashboardUrl);
  const isLocal = host === 'localhost' || isLoopbackAddress(host);
  return environment === 'sandbox' && isLocal && protocol === 'http:' && hostname === 'localhost';
}
