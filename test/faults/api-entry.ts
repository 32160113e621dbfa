import { createServer } from 'node:http';
import { QrisImages } from '../../src/api/qris-images/qris-images';
import { StreamCursors } from '../../src/api/webhook-stream/stream-cursor';
import { WebhookStreams } from '../../src/api/webhook-stream/webhook-streams';
import { DerivedKeys } from '../../src/crypto/derived-keys';
import { publicAddresses } from '../../src/crypto/public-links';
import { createSealer } from '../../src/crypto/sealing';
import { createPool } from '../../src/db/connection/pool';
import { findLogo } from '../../src/db/merchants/merchant-logos';
import { ApiKeys } from '../../src/http/auth/api-keys';
import { AuthFailureLimiter } from '../../src/http/auth/auth-failure-limiter';
import { KnownKeys } from '../../src/http/auth/known-keys';
import { PublicBudget } from '../../src/http/rate-limit/public-budget';
import { RateLimit } from '../../src/http/rate-limit/rate-limit';
import { RequestLog } from '../../src/http/request-log';
import { createKeyedMutex } from '../../src/lib/keyed-mutex';
import { createLogger } from '../../src/observability/logger';
import { createProviderRegistry } from '../../src/providers/registry';
import { createPublicApp } from '../../src/servers/api-app';
import { Admission } from '../../src/services/payments/create/admission';
import { SingleFlight } from '../../src/services/payments/create/single-flight';
import { Readiness } from '../../src/services/readiness';
import { LostWorkflows } from '../../src/services/recovery/lost-workflows';
import { connectClient } from '../../src/temporal/connection';
import { payloadKeys } from '../../src/temporal/payload-codec';
import { CheckoutPages } from '../../src/web/checkout/checkout-pages';
import { CheckoutWatch } from '../../src/web/checkout/checkout-watch';
import { LinkPages } from '../../src/web/checkout/link/link-pages';
import { report } from './breakpoint';
import { API_BREAKPOINTS, InstrumentedWorkflowClient, instrumentQueries } from './instrumented';
import { apiUrlOf, readSettings } from './settings';

const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/** The API as `startApi` composes it (src/servers/api-server.ts), with breakpoints in its dependencies. */
function run(): void {
  const settings = readSettings();
  const { databaseUrl, mutant } = settings;
  const log = createLogger('api', 'warn');
  const publicBaseUrl = apiUrlOf(settings);
  const sealer = createSealer(settings.masterKey);
  const db = instrumentQueries(createPool(databaseUrl, DATABASE_LIMITS), API_BREAKPOINTS, mutant);
  const derivedKeys = new DerivedKeys(db, sealer);
  const workflows = new InstrumentedWorkflowClient(
    connectClient({ address: settings.temporalAddress, namespace: 'default', security: {} }, payloadKeys(derivedKeys)),
  );
  const lostWorkflows = new LostWorkflows({ db, workflows, log });
  const admission = new Admission(1_000_000);
  const app = createPublicApp(
    {
      db,
      workflows,
      createFlights: new SingleFlight(workflows, admission),
      providers: createProviderRegistry({ db, sealer, publicBaseUrl, log }),
      sealer,
      derivedKeys,
      ...publicAddresses(derivedKeys, publicBaseUrl),
      paymentMutex: createKeyedMutex(),
      keylessDb: db,
      qrisImages: new QrisImages(db),
      checkoutPages: new CheckoutPages('sandbox', (hash) => findLogo(db, hash)),
      linkPages: new LinkPages('sandbox'),
      checkoutWatch: new CheckoutWatch(db, { maxConnections: 1_000_000, log, lostWorkflows }),
      lostWorkflows,
      webhookStreams: new WebhookStreams(db, { cursors: new StreamCursors(derivedKeys), log }),
      readiness: new Readiness(db, workflows),
      publicBudget: new PublicBudget(1_000_000),
      rateLimit: new RateLimit({ databaseUrl, requestsPerMinute: 1_000_000, log }),
      requestLog: new RequestLog(db, log, 100_000),
      apiKeys: new ApiKeys(db),
      knownKeys: new KnownKeys(db),
      authFailures: new AuthFailureLimiter(),
      environment: 'sandbox',
      publicBaseUrl,
      sandboxUrl: null,
      log,
    },
    0,
  );
  const server = createServer((request, response) => {
    if (mutant === 'keyIgnored') delete request.headersDistinct['idempotency-key'];
    app(request, response);
  });
  server.listen(settings.apiPort, '127.0.0.1', () => report({ ready: true }));
}

process.once('disconnect', () => process.exit(0));
run();
