import { createServer } from 'node:http';
import { once } from 'node:events';
import { createPool } from '../db/pool';
import { connectClient, type TemporalTarget } from '../engine/connection';
import { PaymentsEngine } from '../engine/payments-engine';
import type { Logger } from '../log';
import { createProviderRegistry } from '../providers/registry';
import { createSealer } from '../sealing';
import { createApp } from './app';
import { FailedKeys } from './auth/failed-keys';
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

/** A request line and headers that take longer are not waited for; nor is a body that trickles in. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The API process. Resolves when it listens; `close` answers what is under way first. */
export async function startApi(settings: ApiSettings): Promise<{ url: string; close(): Promise<void> }> {
  const db = createPool(settings.databaseUrl);
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
      providers,
      sealer,
      qrisLinks,
      turns: createTurns(),
      rateLimit,
      failedKeys,
      publicBaseUrl,
      log: settings.log,
    },
    settings.trustProxy ?? 0,
  );
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, app).listen(settings.port, settings.host);
  await once(server, 'listening');

  return {
    url: publicBaseUrl,
    async close() {
      server.close();
      server.closeIdleConnections();
      await once(server, 'close');
      await Promise.all([engine.close(), providers.close()]);
      await Promise.all([db.end(), rateLimit.close()]);
    },
  };
}
