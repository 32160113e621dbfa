import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { ListenOptions } from 'node:net';
import type { Environment, MetricsAddress } from '../config';
import { createPool } from '../db/pool';
import { watchCertificates } from '../temporal/certificate-watch';
import { connectClient, type TemporalTarget } from '../temporal/connection';
import { payloadKeys } from '../temporal/payload-codec';
import { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { gracefulShutdown, type ShutdownTimes } from '../graceful-shutdown';
import type { Logger } from '../logger';
import { createProviderRegistry } from '../providers/registry';
import { DerivedKeys } from '../db/derived-keys';
import { createSealer } from '../sealing';
import { Admission } from './admission';
import { startApiMetrics } from './api-metrics';
import { createOperatorApp, createPublicApp } from './app';
import { ApiKeys } from './auth/api-keys';
import { AuthFailureLimiter } from './auth/auth-failure-limiter';
import { KnownKeys } from './auth/known-keys';
import { createCheckoutLinks } from './checkout/checkout-links';
import { CheckoutWatch } from './checkout/checkout-watch';
import { SingleFlight } from './payments/create-payment/single-flight';
import { Readiness } from './health/readiness';
import { QrisImages } from './qris-images/qris-images';
import { createQrisLinks } from './qris-images/qris-links';
import { createKeyedMutex } from './keyed-mutex';
import { RateLimit } from './rate-limit/rate-limit';
import { PublicBudget } from './rate-limit/public-budget';

export interface ApiSettings {
  readonly port: number;
  readonly host: string;
  /** The operator API has a listener of its own (`OPERATOR_PORT`, `OPERATOR_HOST`). */
  readonly operatorPort: number;
  readonly operatorHost: string;
  /** The address at which customers and providers reach the API; by default the one that it listens on. */
  readonly publicBaseUrl?: string;
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly masterKey: string;
  readonly oldMasterKeys?: readonly string[] | undefined;
  /** Keys of the other environment are not accepted. */
  readonly environment: Environment;
  /** Hops or addresses of our own proxies (`TRUST_PROXY`); by default no forwarded address is trusted. */
  readonly trustProxy?: number | readonly string[];
  /** Per key, over all API processes (`RATE_LIMIT_PER_MINUTE`). */
  readonly requestsPerMinute: number;
  /** Of all keys of a merchant (`MERCHANT_RATE_LIMIT_PER_MINUTE`); by default `requestsPerMinute`. */
  readonly merchantRequestsPerMinute?: number;
  /** Of the public endpoints, per client network and process (`PUBLIC_RATE_LIMIT_PER_SECOND`). */
  readonly publicRequestsPerSecond: number;
  /** Of each provider account (`MAX_CREATES_IN_FLIGHT`). */
  readonly maxCreatesInFlight: number;
  /** `DATABASE_POOL_SIZE` */
  readonly databasePoolSize: number;
  /** `MAX_CONNECTIONS` */
  readonly maxConnections: number;
  /** `DRAIN_SECONDS`; by default 0. */
  readonly drainSeconds?: number;
  /** `METRICS_PORT`; without it the process serves no metrics. */
  readonly metrics?: MetricsAddress | undefined;
  readonly log: Logger;
}

/**
 * Limits for slow callers; `request-body.ts` limits the body. Load balancers keep an idle connection for 60 s. The API
 * keeps it for longer: closing it first could cut a request that the load balancer has just sent.
 */
const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 75_000,
} as const;

/** A request must be completed within 10 s. Its few statements take milliseconds. */
const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/**
 * The connections of all requests without a key. They are few: QR images are cached, all event streams share one
 * statement per second, and readiness has a pool of its
 * own, since PostgreSQL is up while the others wait for a connection.
 */
const PUBLIC_CONNECTIONS = 4;

/** Longer than the 10 s of a request, shorter than the 15 s in which the process must stop (`runService`). */
const SHUTDOWN_TIMEOUT_MS = 12_000;

/**
 * The API process. Resolves when both listeners listen. `close` makes `/readyz` 503, serves for the drain time, and
 * completes the requests in flight.
 */
export async function startApi(settings: ApiSettings): Promise<{ url: string; close(): Promise<void> }> {
  const db = createPool(settings.databaseUrl, { ...DATABASE_LIMITS, max: settings.databasePoolSize });
  const publicDb = createPool(settings.databaseUrl, { ...DATABASE_LIMITS, max: PUBLIC_CONNECTIONS });
  const readinessDb = createPool(settings.databaseUrl, { ...DATABASE_LIMITS, max: 1 });
  const sealer = createSealer(settings.masterKey, settings.oldMasterKeys);
  const derivedKeys = new DerivedKeys(publicDb, sealer);
  const workflows = new PaymentWorkflowClient(connectClient(settings.temporal, payloadKeys(derivedKeys)));
  const stopWatching = watchCertificates(settings.temporal, settings.log);
  const publicBaseUrl = settings.publicBaseUrl ?? `http://localhost:${settings.port}`;
  const providers = createProviderRegistry(publicDb, sealer, publicBaseUrl);
  const qrisLinks = createQrisLinks(derivedKeys, publicBaseUrl);

  const rateLimit = new RateLimit(settings);
  const failedKeys = new AuthFailureLimiter();
  const admission = new Admission(settings.maxCreatesInFlight);

  const dependencies = {
    db,
    publicDb,
    workflows,
    admission,
    creations: new SingleFlight(workflows, admission),
    providers,
    sealer,
    derivedKeys,
    qrisLinks,
    qrisImages: new QrisImages(publicDb),
    checkoutLinks: createCheckoutLinks(derivedKeys, publicBaseUrl),
    checkoutWatch: new CheckoutWatch(publicDb, settings),
    readiness: new Readiness(readinessDb, workflows),
    mutex: createKeyedMutex(),
    rateLimit,
    publicBudget: new PublicBudget(settings.publicRequestsPerSecond),
    apiKeys: new ApiKeys(db),
    knownKeys: new KnownKeys(publicDb),
    failedKeys,
    environment: settings.environment,
    publicBaseUrl,
    log: settings.log,
  };
  const pools = { requests: db, public: publicDb, readiness: readinessDb };
  const metrics = await startApiMetrics(settings, pools, admission);
  const { port, host, operatorPort, operatorHost, trustProxy = 0, maxConnections, drainSeconds = 0 } = settings;
  const shutdownTimes = { drainMs: drainSeconds * 1000, timeoutMs: SHUTDOWN_TIMEOUT_MS };
  const publicServer = createServer(HTTP_LIMITS, createPublicApp(dependencies, trustProxy));
  publicServer.maxConnections = maxConnections;
  const operatorServer = createServer(HTTP_LIMITS, createOperatorApp(dependencies, trustProxy));
  const closeServers = await Promise.all([
    listen(publicServer, { port, host }, shutdownTimes),
    listen(operatorServer, { port: operatorPort, host: operatorHost }, shutdownTimes),
  ]);

  return {
    url: publicBaseUrl,
    async close() {
      dependencies.readiness.stop();
      dependencies.checkoutWatch.stop();
      await Promise.all(closeServers.map((closeServer) => closeServer()));
      stopWatching();
      await Promise.all([workflows.close(), providers.close()]);
      await Promise.all([db.end(), publicDb.end(), readinessDb.end(), rateLimit.close()]);
      await metrics?.close();
    },
  };
}

/** @returns a function that completes the requests in flight and closes the listener */
async function listen(server: Server, address: ListenOptions, times: ShutdownTimes): Promise<() => Promise<void>> {
  const close = gracefulShutdown(server, times);
  server.listen(address);
  await once(server, 'listening');
  return close;
}
