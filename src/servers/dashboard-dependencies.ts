import type { Environment } from '../config';
import { DerivedKeys } from '../crypto/derived-keys';
import { publicAddresses } from '../crypto/public-links';
import { createSealer } from '../crypto/sealing';
import { createPool, type Pool } from '../db/connection/pool';
import { findLogo } from '../db/merchants/merchant-logos';
import { PublicBudget } from '../http/rate-limit/public-budget';
import { RateLimit } from '../http/rate-limit/rate-limit';
import { createKeyedMutex } from '../lib/keyed-mutex';
import type { Logger } from '../observability/logger';
import { PasswordHasher } from '../services/identity/password';
import { RejectedSignIns } from '../services/identity/rejected-sign-ins';
import { SignInThrottle } from '../services/identity/throttle';
import { Admission } from '../services/payments/create/admission';
import { SingleFlight } from '../services/payments/create/single-flight';
import { Readiness } from '../services/readiness';
import { LostWorkflows } from '../services/recovery/lost-workflows';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { CheckoutPages } from '../web/checkout/checkout-pages';
import { CheckoutWatch } from '../web/checkout/checkout-watch';
import type { DashboardDependencies } from '../web/dashboard/dashboard-dependencies';
import { ExportLimit } from '../web/page/export-limit';
import { HourlyLimit } from '../web/page/hourly-limit';
import { pageCookie } from '../web/page/session-cookie';

export interface DashboardDependencySettings {
  /** At which browsers reach the dashboard (`DASHBOARD_URL`). */
  readonly dashboardUrl: string;
  /** At which customers reach the checkout pages. */
  readonly publicBaseUrl: string;
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly oldMasterKeys?: readonly string[] | undefined;
  readonly environment: Environment;
  /** The limit of one key, and of all requests of a merchant, as the API has them. */
  readonly requestsPerMinute: number;
  readonly merchantRequestsPerMinute?: number;
  /** The limit of each client network (`PUBLIC_RATE_LIMIT_PER_SECOND`). */
  readonly publicRequestsPerSecond: number;
  /** The limit of each provider account (`MAX_CREATES_IN_FLIGHT`). */
  readonly maxCreatesInFlight: number;
  /** `DATABASE_POOL_SIZE` */
  readonly databasePoolSize: number;
  /** `MAX_CONNECTIONS` */
  readonly maxConnections: number;
  /** How often an event stream reads its session again; by default each minute. */
  readonly accessCheckMs?: number;
  /** `WEBHOOK_ALLOWED_NETWORKS`, `WEBHOOK_FORBIDDEN_NETWORKS` */
  readonly webhookAllowedNetworks?: readonly string[] | undefined;
  readonly webhookForbiddenNetworks?: readonly string[] | undefined;
  readonly log: Logger;
}

/** The limits of the API. */
const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/** Decoding costs more than any page. */
const LOGOS_PER_HOUR = 10;

export interface OpenDashboard {
  readonly dependencies: DashboardDependencies;
  readonly pools: Readonly<Record<'requests' | 'readiness', Pool>>;
  readonly admission: Admission;
  readonly close: () => Promise<void>;
}

/** @param connectWorkflows is called once; `close` closes what it returns */
export function openDashboard(
  settings: DashboardDependencySettings,
  connectWorkflows: (derivedKeys: DerivedKeys) => PaymentWorkflowClient,
): OpenDashboard {
  const { databaseUrl, publicBaseUrl, environment, log } = settings;
  const db = createPool(databaseUrl, { ...DATABASE_LIMITS, max: settings.databasePoolSize });
  const readinessDb = createPool(databaseUrl, { ...DATABASE_LIMITS, max: 1 });
  const sealer = createSealer(settings.masterKey, settings.oldMasterKeys);
  const derivedKeys = new DerivedKeys(db, sealer);
  const workflows = connectWorkflows(derivedKeys);
  const admission = new Admission(settings.maxCreatesInFlight);
  const lostWorkflows = new LostWorkflows({ db, workflows, log });
  const rateLimit = new RateLimit(settings);
  const rejections = new RejectedSignIns(db, log);
  const origin = new URL(settings.dashboardUrl);
  return {
    dependencies: {
      receiverRules: {
        environment,
        allowedNetworks: settings.webhookAllowedNetworks,
        forbiddenNetworks: settings.webhookForbiddenNetworks,
      },
      db,
      workflows,
      sealer,
      loadSealer: () => Promise.resolve(sealer),
      derivedKeys,
      lostWorkflows,
      createFlights: new SingleFlight(workflows, admission),
      ...publicAddresses(derivedKeys, publicBaseUrl),
      checkoutPages: new CheckoutPages(environment, (hash) => findLogo(db, hash)),
      checkoutWatch: new CheckoutWatch(db, { ...settings, lostWorkflows }),
      hasher: new PasswordHasher(),
      throttle: new SignInThrottle(db),
      rejections,
      rateLimit,
      exportLimit: new ExportLimit(db),
      logoLimit: new HourlyLimit(db, { name: 'logo', perHour: LOGOS_PER_HOUR }),
      paymentMutex: createKeyedMutex(),
      readiness: new Readiness(readinessDb, workflows),
      publicBudget: new PublicBudget(settings.publicRequestsPerSecond),
      cookie: pageCookie(origin, 'dashboard'),
      browserCookie: pageCookie(origin, 'browser'),
      origin,
      environment,
      publicBaseUrl,
      log,
    },
    pools: { requests: db, readiness: readinessDb },
    admission,
    async close() {
      await rejections.close();
      await rateLimit.close();
      await lostWorkflows.stop();
      await workflows.close();
      await Promise.all([db.end(), readinessDb.end()]);
    },
  };
}
