import { createServer } from 'node:http';
import { createApp } from '../../src/api/app';
import { ApiKeys } from '../../src/api/auth/api-keys';
import { FailedKeys } from '../../src/api/auth/failed-keys';
import { Creations } from '../../src/api/create-payment/creations';
import { createQrisLinks } from '../../src/api/get-qris-picture/qris-links';
import { RateLimit } from '../../src/api/rate-limit/rate-limit';
import { createTurns } from '../../src/api/turns';
import { createPool } from '../../src/db/pool';
import { connectClient } from '../../src/engine/connection';
import { createLogger } from '../../src/log';
import { createProviderRegistry } from '../../src/providers/registry';
import { createSealer } from '../../src/sealing';
import { apiUrlOf, readSettings } from './settings';
import { report } from './trap';
import { API_TRAPS, TrappedEngine, trapQueries } from './trapped';

const DATABASE_LIMITS = { connectionTimeoutMs: 3_000, statementTimeoutMs: 4_000 } as const;

/** The API as `startApi` composes it (src/api/server.ts), over dependencies that have traps. */
function run(): void {
  const settings = readSettings();
  const { databaseUrl, mutant } = settings;
  const log = createLogger('api', 'warn');
  const publicBaseUrl = apiUrlOf(settings);
  const sealer = createSealer(settings.masterKey);
  const db = trapQueries(createPool(databaseUrl, DATABASE_LIMITS), API_TRAPS, mutant);
  const engine = new TrappedEngine(
    connectClient({ address: settings.temporalAddress, namespace: 'default', security: {} }),
  );
  const app = createApp(
    {
      db,
      engine,
      creations: new Creations(engine),
      providers: createProviderRegistry(db, sealer, publicBaseUrl),
      sealer,
      qrisLinks: createQrisLinks(settings.masterKey, publicBaseUrl),
      turns: createTurns(),
      rateLimit: new RateLimit({ databaseUrl, requestsPerMinute: 1_000_000, log }),
      apiKeys: new ApiKeys(db),
      failedKeys: new FailedKeys(),
      publicBaseUrl,
      log,
    },
    0,
  );
  const server = createServer((request, response) => {
    if (mutant === 'keyIgnored') delete request.headers['idempotency-key'];
    app(request, response);
  });
  server.listen(settings.apiPort, '127.0.0.1', () => report({ ready: true }));
}

process.once('disconnect', () => process.exit(0));
run();
