import type { ApiDependencies } from '../api/dependencies';
import { QrisImages } from '../api/qris-images/qris-images';
import { StreamCursors } from '../api/webhook-stream/stream-cursor';
import { WebhookStreams } from '../api/webhook-stream/webhook-streams';
import type { Environment } from '../config';
import { DerivedKeys } from '../crypto/derived-keys';
import { publicAddresses } from '../crypto/public-links';
import { createSealer } from '../crypto/sealing';
import { createPool, type Pool } from '../db/connection/pool';
import { findLogo } from '../db/merchants/merchant-logos';
import { ApiKeys } from '../http/auth/api-keys';
import { AuthFailureLimiter } from '../http/auth/auth-failure-limiter';
import { KnownKeys } from '../http/auth/known-keys';
import { PublicBudget } from '../http/rate-limit/public-budget';
import { RateLimit } from '../http/rate-limit/rate-limit';
import { RequestLog } from '../http/request-log';
import { createKeyedMutex } from '../lib/keyed-mutex';
import type { Logger } from '../observability/logger';
import { createProviderRegistry } from '../providers/registry';
import { Admission } from '../services/payments/create/admission';
import { SingleFlight } from '../services/payments/create/single-flight';
import { Readiness } from '../services/readiness';
import { LostWorkflows } from '../services/recovery/lost-workflows';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import type { CheckoutDependencies } from '../web/checkout/checkout-dependencies';
import { CheckoutPages } from '../web/checkout/checkout-pages';
import { CheckoutWatch } from '../web/checkout/checkout-watch';
import { LinkPages } from '../web/checkout/link/link-pages';
import type { DocumentedService } from '../web/docs/docs-site';

export interface DependencySettings {
  readonly port: number;
  /** The address at which customers and providers reach the API; by default the one that it listens on. */
  readonly publicBaseUrl?: string;
  /** Where the documents say that the sandbox is. */
  readonly sandboxUrl?: string;
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly oldMasterKeys?: readonly string[] | undefined;
  /** Keys of the other environment are not accepted. */
  readonly environment: Environment;
  /** Per key, over all API processes (`RATE_LIMIT_PER_MINUTE`). */
  readonly requestsPerMinute: number;
  /** The limit of all keys of a merchant (`MERCHANT_RATE_LIMIT_PER_MINUTE`); by default `requestsPerMinute`. */
  readonly merchantRequestsPerMinute?: number;
  /** The limit of the public endpoints, per client network and process (`PUBLIC_RATE_LIMIT_PER_SECOND`). */
  readonly publicRequestsPerSecond: number;
  /** The limit of each provider account (`MAX_CREATES_IN_FLIGHT`). */
  readonly maxCreatesInFlight: number;
  /** How many requests are kept (`REQUEST_LOG_ROWS`). */
  readonly requestLogRows: number;
  /** `DATABASE_POOL_SIZE` */
  readonly databasePoolSize: number;
  /** `MAX_CONNECTIONS` */
  readonly maxConnections: number;
  readonly log: Logger;
}

/** A request must be completed within 10 s. Its few statements take milliseconds. */
const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/**
 * The connections of all requests without a key. They are few: QR images are cached, all checkout streams share one
 * statement per second, and readiness has a pool of its own, since PostgreSQL is up while the others wait for a
 * connection.
 */
const PUBLIC_CONNECTIONS = 4;
/** The merchants' event streams read the events of all merchants: they delay each other only. */
const STREAM_CONNECTIONS = 2;

/** What the endpoints use, and the pages that the API serves beside them. */
export type ApiServerDependencies = ApiDependencies &
  CheckoutDependencies &
  DocumentedService & { readonly readiness: Readiness };

export interface OpenDependencies {
  readonly dependencies: ApiServerDependencies;
  readonly admission: Admission;
  readonly pools: Readonly<Record<'requests' | 'public' | 'streams' | 'readiness', Pool>>;
  readonly close: () => Promise<void>;
}

/**
 * Everything that the endpoints use, over any workflow system: the benchmark's baseline brings its own.
 * @param connectWorkflows is called once; `close` closes what it returns
 */
export function openDependencies(
  settings: DependencySettings,
  connectWorkflows: (derivedKeys: DerivedKeys) => PaymentWorkflowClient,
): OpenDependencies {
  const { databaseUrl, environment, log } = settings;
  const db = createPool(databaseUrl, { ...DATABASE_LIMITS, max: settings.databasePoolSize });
  const keylessDb = createPool(databaseUrl, { ...DATABASE_LIMITS, max: PUBLIC_CONNECTIONS });
  const streamDb = createPool(databaseUrl, { ...DATABASE_LIMITS, max: STREAM_CONNECTIONS });
  const readinessDb = createPool(databaseUrl, { ...DATABASE_LIMITS, max: 1 });
  const sealer = createSealer(settings.masterKey, settings.oldMasterKeys);
  const derivedKeys = new DerivedKeys(keylessDb, sealer);
  const workflows = connectWorkflows(derivedKeys);
  const publicBaseUrl = settings.publicBaseUrl ?? `http://localhost:${settings.port}`;
  const providers = createProviderRegistry({ db: keylessDb, sealer, publicBaseUrl, log });
  const rateLimit = new RateLimit(settings);
  const admission = new Admission(settings.maxCreatesInFlight);
  const lostWorkflows = new LostWorkflows({ db: keylessDb, workflows, log });
  const requestLog = new RequestLog(keylessDb, log, settings.requestLogRows);
  return {
    dependencies: {
      db,
      keylessDb,
      workflows,
      createFlights: new SingleFlight(workflows, admission),
      providers,
      sealer,
      derivedKeys,
      ...publicAddresses(derivedKeys, publicBaseUrl),
      qrisImages: new QrisImages(keylessDb),
      checkoutPages: new CheckoutPages(environment, (hash) => findLogo(keylessDb, hash)),
      linkPages: new LinkPages(environment),
      checkoutWatch: new CheckoutWatch(keylessDb, { ...settings, lostWorkflows }),
      lostWorkflows,
      webhookStreams: new WebhookStreams(streamDb, { cursors: new StreamCursors(derivedKeys), log }),
      readiness: new Readiness(readinessDb, workflows),
      paymentMutex: createKeyedMutex(),
      rateLimit,
      requestLog,
      publicBudget: new PublicBudget(settings.publicRequestsPerSecond),
      apiKeys: new ApiKeys(db),
      knownKeys: new KnownKeys(keylessDb),
      authFailures: new AuthFailureLimiter(),
      environment,
      publicBaseUrl,
      sandboxUrl: settings.sandboxUrl ?? null,
      log,
    },
    pools: { requests: db, public: keylessDb, streams: streamDb, readiness: readinessDb },
    admission,
    async close() {
      await lostWorkflows.stop();
      await Promise.all([workflows.close(), providers.close(), requestLog.close()]);
      await Promise.all([db.end(), keylessDb.end(), streamDb.end(), readinessDb.end(), rateLimit.close()]);
    },
  };
}
