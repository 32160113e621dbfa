import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { createPool } from '../db/pool';
import { connectClient, type TemporalTarget } from '../temporal/connection';
import { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import type { Logger } from '../logger';
import { createProviderRegistry } from '../providers/registry';
import { createSealer } from '../sealing';
import { createApp } from './app';
import { ApiKeys } from './auth/api-keys';
import { AuthFailureLimiter } from './auth/auth-failure-limiter';
import { SingleFlight } from './create-payment/single-flight';
import { createQrisLinks } from './get-qris-image/qris-links';
import { createKeyedMutex } from './keyed-mutex';
import { RateLimit } from './rate-limit/rate-limit';

export interface ApiSettings {
  readonly port: number;
  readonly host: string;
  /** Where customers and providers reach us; by default the address that we listen on. */
  readonly publicBaseUrl?: string;
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly masterKey: string;
  /** Hops or addresses of our own proxies (`TRUST_PROXY`); by default nobody is believed. */
  readonly trustProxy?: number | readonly string[];
  /** Per key, over all API processes (`RATE_LIMIT_PER_MINUTE`). */
  readonly requestsPerMinute: number;
  readonly log: Logger;
}

/**
 * A caller that takes longer for its headers is not waited for (its body: `request-body.ts`). A connection is kept for longer than
 * load balancers keep theirs (60 s), or they would at times send a request into one that we are just closing.
 */
const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 75_000,
} as const;

/** Whom the kernel has connected and we have not taken yet; Node.js's default. */
const ACCEPT_BACKLOG = 511;

/** Of a request's ten seconds; what it does is a handful of statements that take milliseconds. */
const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/** The API process. Resolves when it listens; `close` answers what is under way first. */
export async function startApi(settings: ApiSettings): Promise<{ url: string; close(): Promise<void> }> {
  const db = createPool(settings.databaseUrl, DATABASE_LIMITS);
  const workflows = new PaymentWorkflowClient(connectClient(settings.temporal));
  const sealer = createSealer(settings.masterKey);
  const publicBaseUrl = settings.publicBaseUrl ?? `http://localhost:${settings.port}`;
  const providers = createProviderRegistry(db, sealer, publicBaseUrl);
  const qrisLinks = createQrisLinks(settings.masterKey, publicBaseUrl);

  const rateLimit = new RateLimit(settings);
  const failedKeys = new AuthFailureLimiter();

  const app = createApp(
    {
      db,
      workflows,
      creations: new SingleFlight(workflows),
      providers,
      sealer,
      qrisLinks,
      mutex: createKeyedMutex(),
      rateLimit,
      apiKeys: new ApiKeys(db),
      failedKeys,
      publicBaseUrl,
      log: settings.log,
    },
    settings.trustProxy ?? 0,
  );
  const server = createServer(HTTP_LIMITS, app).listen(settings.port, settings.host, ACCEPT_BACKLOG);
  const closeServer = createShutdown(server);
  await once(server, 'listening');

  return {
    url: publicBaseUrl,
    async close() {
      await closeServer();
      await Promise.all([workflows.close(), providers.close()]);
      await Promise.all([db.end(), rateLimit.close()]);
    },
  };
}

/** Who has connected already is about to ask: so long he has for it. */
const IDLE_GRACE_MS = 500;

/**
 * Takes nothing new, answers what is under way, and has callers let go of their kept connections. A connection that has asked nothing by
 * the time when all is answered is closed: Node.js would wait for it.
 */
function createShutdown(server: Server): () => Promise<void> {
  const inFlight = new Set<ServerResponse>();
  let isClosing = false;
  // Before the app, which answers some requests at once.
  server.prependListener('request', (_request, response) => {
    if (isClosing) response.setHeader('Connection', 'close');
    inFlight.add(response);
    response.on('close', () => inFlight.delete(response));
  });
  return async () => {
    const closed = once(server, 'close');
    isClosing = true;
    for (const response of inFlight) if (!response.headersSent) response.setHeader('Connection', 'close');
    await drainAcceptQueue(server);
    server.close();
    await Promise.race([closed, sleep(IDLE_GRACE_MS)]);
    // Those too that come while we wait.
    for (const response of inFlight) await new Promise((resolve) => response.on('close', resolve));
    server.closeAllConnections();
    await closed;
  };
}

/**
 * Takes who waits in the kernel, which resets them when we close. libuv takes one for each turn of the loop; where callers keep coming,
 * this ends after as many turns as there can have been callers.
 */
async function drainAcceptQueue(server: Server): Promise<void> {
  let hasTaken = true;
  server.on('connection', () => (hasTaken = true));
  // The turn that we are in may be over already for connections.
  await turnOfTheLoop();
  for (let mutex = 0; hasTaken && mutex <= ACCEPT_BACKLOG; mutex += 1) {
    hasTaken = false;
    await turnOfTheLoop();
  }
}
