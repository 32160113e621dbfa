import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import { createPool } from '../db/pool';
import { connectClient, type TemporalTarget } from '../temporal/connection';
import { payloadKeys } from '../temporal/payload-codec';
import { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { gracefulShutdown } from '../graceful-shutdown';
import type { Logger } from '../logger';
import { createProviderRegistry } from '../providers/registry';
import { DerivedKeys } from '../db/derived-keys';
import { createSealer } from '../sealing';
import { createOperatorApp, createPublicApp } from './app';
import { ApiKeys } from './auth/api-keys';
import { AuthFailureLimiter } from './auth/auth-failure-limiter';
import { SingleFlight } from './payments/create-payment/single-flight';
import { createQrisLinks } from './qris-images/qris-links';
import { createKeyedMutex } from './keyed-mutex';
import { RateLimit } from './rate-limit/rate-limit';

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
  /** Hops or addresses of our own proxies (`TRUST_PROXY`); by default no forwarded address is trusted. */
  readonly trustProxy?: number | readonly string[];
  /** Per key, over all API processes (`RATE_LIMIT_PER_MINUTE`). */
  readonly requestsPerMinute: number;
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

/** Longer than the 10 s of a request, shorter than the 15 s in which the process must stop (`runService`). */
const SHUTDOWN_TIMEOUT_MS = 12_000;

/** The API process. Resolves when both listeners listen. `close` completes the requests in flight first. */
export async function startApi(settings: ApiSettings): Promise<{ url: string; close(): Promise<void> }> {
  const db = createPool(settings.databaseUrl, DATABASE_LIMITS);
  const keys = payloadKeys(settings.masterKey, ...(settings.oldMasterKeys ?? []));
  const workflows = new PaymentWorkflowClient(connectClient(settings.temporal, keys));
  const sealer = createSealer(settings.masterKey, settings.oldMasterKeys);
  const derivedKeys = new DerivedKeys(db, sealer);
  const publicBaseUrl = settings.publicBaseUrl ?? `http://localhost:${settings.port}`;
  const providers = createProviderRegistry(db, sealer, publicBaseUrl);
  const qrisLinks = createQrisLinks(derivedKeys, publicBaseUrl);

  const rateLimit = new RateLimit(settings);
  const failedKeys = new AuthFailureLimiter();

  const dependencies = {
    db,
    workflows,
    creations: new SingleFlight(workflows),
    providers,
    sealer,
    derivedKeys,
    qrisLinks,
    mutex: createKeyedMutex(),
    rateLimit,
    apiKeys: new ApiKeys(db),
    failedKeys,
    publicBaseUrl,
    log: settings.log,
  };
  const { port, host, operatorPort, operatorHost, trustProxy = 0 } = settings;
  const closeServers = await Promise.all([
    listen(createPublicApp(dependencies, trustProxy), port, host),
    listen(createOperatorApp(dependencies, trustProxy), operatorPort, operatorHost),
  ]);

  return {
    url: publicBaseUrl,
    async close() {
      await Promise.all(closeServers.map((closeServer) => closeServer()));
      await Promise.all([workflows.close(), providers.close()]);
      await Promise.all([db.end(), rateLimit.close()]);
    },
  };
}

/** @returns a function that completes the requests in flight and closes the listener */
async function listen(app: RequestListener, port: number, host: string): Promise<() => Promise<void>> {
  const server = createServer(HTTP_LIMITS, app);
  const close = gracefulShutdown(server, SHUTDOWN_TIMEOUT_MS);
  server.listen(port, host);
  await once(server, 'listening');
  return close;
}
