import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { createPool } from '../db/pool';
import { connectClient, type TemporalTarget } from '../engine/connection';
import { PaymentsEngine } from '../engine/payments-engine';
import type { Logger } from '../log';
import { createProviderRegistry } from '../providers/registry';
import { createSealer } from '../sealing';
import { createApp } from './app';
import { ApiKeys } from './auth/api-keys';
import { FailedKeys } from './auth/failed-keys';
import { Creations } from './create-payment/creations';
import { createQrisLinks } from './get-qris-picture/qris-links';
import { createTurns } from './turns';
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
const WAITING_CALLERS = 511;

/** Of a request's ten seconds; what it does is a handful of statements that take milliseconds. */
const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/** The API process. Resolves when it listens; `close` answers what is under way first. */
export async function startApi(settings: ApiSettings): Promise<{ url: string; close(): Promise<void> }> {
  const db = createPool(settings.databaseUrl, DATABASE_LIMITS);
  const engine = new PaymentsEngine(connectClient(settings.temporal));
  const sealer = createSealer(settings.masterKey);
  const publicBaseUrl = settings.publicBaseUrl ?? `http://localhost:${settings.port}`;
  const providers = createProviderRegistry(db, sealer, publicBaseUrl);
  const qrisLinks = createQrisLinks(settings.masterKey, publicBaseUrl);

  const rateLimit = new RateLimit(settings);
  const failedKeys = new FailedKeys();

  const app = createApp(
    {
      db,
      engine,
      creations: new Creations(engine),
      providers,
      sealer,
      qrisLinks,
      turns: createTurns(),
      rateLimit,
      apiKeys: new ApiKeys(db),
      failedKeys,
      publicBaseUrl,
      log: settings.log,
    },
    settings.trustProxy ?? 0,
  );
  const server = createServer(HTTP_LIMITS, app).listen(settings.port, settings.host, WAITING_CALLERS);
  const closeServer = closerOf(server);
  await once(server, 'listening');

  return {
    url: publicBaseUrl,
    async close() {
      await closeServer();
      await Promise.all([engine.close(), providers.close()]);
      await Promise.all([db.end(), rateLimit.close()]);
    },
  };
}

/** Who has connected already is about to ask: so long he has for it. */
const SILENCE_MS = 500;

/**
 * Takes nothing new, answers what is under way, and has callers let go of their kept connections. A connection that has asked nothing by
 * the time when all is answered is closed: Node.js would wait for it.
 */
function closerOf(server: Server): () => Promise<void> {
  const underWay = new Set<ServerResponse>();
  let isClosing = false;
  // Before the app, which answers some requests at once.
  server.prependListener('request', (_request, response) => {
    if (isClosing) response.setHeader('Connection', 'close');
    underWay.add(response);
    response.on('close', () => underWay.delete(response));
  });
  return async () => {
    const closed = once(server, 'close');
    isClosing = true;
    for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close');
    await takeWaiting(server);
    server.close();
    await Promise.race([closed, sleep(SILENCE_MS)]);
    // Those too that come while we wait.
    for (const response of underWay) await new Promise((resolve) => response.on('close', resolve));
    server.closeAllConnections();
    await closed;
  };
}

/**
 * Takes who waits in the kernel, which resets them when we close. libuv takes one for each turn of the loop; where callers keep coming,
 * this ends after as many turns as there can have been callers.
 */
async function takeWaiting(server: Server): Promise<void> {
  let hasTaken = true;
  server.on('connection', () => (hasTaken = true));
  // The turn that we are in may be over already for connections.
  await turnOfTheLoop();
  for (let turns = 0; hasTaken && turns <= WAITING_CALLERS; turns += 1) {
    hasTaken = false;
    await turnOfTheLoop();
  }
}
