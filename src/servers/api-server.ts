import { createServer } from 'node:http';
import type { MetricsAddress } from '../config';
import { ConnectionLimit } from '../http/connection-limit';
import { HTTP_LIMITS, listen, proxiesOf, SHUTDOWN_TIMEOUT_MS } from '../http/listener';
import { watchCertificates } from '../temporal/certificate-watch';
import { connectClient, type TemporalTarget } from '../temporal/connection';
import { payloadKeys } from '../temporal/payload-codec';
import { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { createOperatorApp, createPublicApp } from './api-app';
import { openDependencies, type DependencySettings } from './api-dependencies';
import { startApiMetrics } from './api-metrics';
import { startHeartbeat } from './heartbeat';

export interface ApiSettings extends DependencySettings {
  readonly host: string;
  /** The operator API has a listener of its own (`OPERATOR_PORT`, `OPERATOR_HOST`). */
  readonly operatorPort: number;
  readonly operatorHost: string;
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
 * The API process. Resolves when both listeners listen. `close` makes `/readyz` 503, serves for the drain time, and
 * completes the requests in flight.
 */
export async function startApi(settings: ApiSettings): Promise<{ url: string; close(): Promise<void> }> {
  const { dependencies, admission, pools, close } = openDependencies(
    settings,
    (derivedKeys) => new PaymentWorkflowClient(connectClient(settings.temporal, payloadKeys(derivedKeys))),
  );
  const heartbeat = startHeartbeat(pools.readiness, ['api'], settings.log);
  const stopWatching = watchCertificates(settings.temporal, settings.log);
  const metrics = await startApiMetrics(settings, pools, admission);
  const { port, host, operatorPort, operatorHost, trustProxy = 0, drainSeconds = 0 } = settings;
  const shutdownTimes = { drainMs: drainSeconds * 1000, timeoutMs: SHUTDOWN_TIMEOUT_MS };
  const publicServer = createServer(HTTP_LIMITS, createPublicApp(dependencies, trustProxy));
  publicServer.maxConnections = settings.maxConnections;
  const operatorServer = createServer(HTTP_LIMITS, createOperatorApp(dependencies, trustProxy));
  const connections = new ConnectionLimit(settings.maxConnectionsPerClient);
  // Behind a number of proxies, every connection of the public listener is one of a proxy.
  if (trustProxy === 0 || typeof trustProxy !== 'number') connections.limit(publicServer, proxiesOf(trustProxy));
  connections.limit(operatorServer, proxiesOf(trustProxy));
  const closeServers = await Promise.all([
    listen(publicServer, { port, host }, shutdownTimes),
    listen(operatorServer, { port: operatorPort, host: operatorHost }, shutdownTimes),
  ]);

  return {
    url: dependencies.publicBaseUrl,
    async close() {
      dependencies.readiness.stop();
      dependencies.checkoutWatch.stop();
      dependencies.webhookStreams.stop();
      await Promise.all(closeServers.map((closeServer) => closeServer()));
      stopWatching();
      await heartbeat.stop();
      await close();
      await metrics?.close();
    },
  };
}
