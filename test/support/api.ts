import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createPool, type Pool } from '../../src/db/connection/pool';
import type { MerchantScope, NewKeyAccess } from '../../src/domain/key-access';
import { startApi, type ApiSettings } from '../../src/servers/api-server';
import { insertMerchant } from '../../src/services/merchants/merchants';
import { collectLog } from './collect-log';
import { createTestDatabase, expectNoDeniedStatement } from './database';
import { issueKey } from './keys';
import { freeListeners } from './listeners';
import { NO_LIMITS, RESPONSE_TIMEOUT_MS } from './service';

/** After this time every process applies an operator's change of a key or a merchant. */
export const IN_FORCE_AFTER_MS = 1_000;

/** API servers on one database, without Temporal: for responses that do not need it. */
export interface TestApis {
  readonly db: Pool;
  readonly databaseUrl: string;
  /** With the role of operators. */
  readonly operatorDatabaseUrl: string;
  readonly urls: readonly string[];
  /** The listeners of the operators, in the same order. */
  readonly operatorUrls: readonly string[];
  /** The log lines of all servers. */
  logged(): string;
  /** A key of a new, approved merchant. */
  newKey(options?: NewKeyAccess<MerchantScope> & { readonly approve?: boolean }): Promise<TestKey>;
  close(): Promise<void>;
}

export interface TestKey {
  readonly id: string;
  readonly merchantId: string;
  readonly secret: string;
}

type TestApiSettings = Partial<
  Pick<
    ApiSettings,
    | 'environment'
    | 'trustProxy'
    | 'requestsPerMinute'
    | 'merchantRequestsPerMinute'
    | 'publicRequestsPerSecond'
    | 'maxConnections'
    | 'maxConnectionsPerClient'
    | 'metrics'
    | 'maxCreatesInFlight'
    | 'publicBaseUrl'
    | 'sandboxUrl'
    | 'host'
    | 'masterKey'
    | 'temporal'
  >
>;

/** @param settings of each server */
export async function startTestApis(settings: readonly TestApiSettings[]): Promise<TestApis> {
  const database = await createTestDatabase();
  // A file inserts 90,000 rows by one statement.
  const db = createPool(database.url, { max: 4, statementTimeoutMs: 120_000 });
  const collected = collectLog();
  const apis = await Promise.all(
    settings.map(async (settings) => {
      const { listeners, apiUrl, operatorUrl } = await freeListeners();
      const api = await startApi({
        ...listeners,
        environment: 'sandbox',
        ...NO_LIMITS,
        databaseUrl: database.urlOf('lunas_local_api'),
        temporal: { address: '127.0.0.1:1', namespace: 'none', security: {} },
        masterKey: randomBytes(32).toString('base64'),
        log: collected.log,
        ...settings,
      });
      return { url: apiUrl, operatorUrl, close: () => api.close() };
    }),
  );
  return {
    db,
    databaseUrl: database.url,
    operatorDatabaseUrl: database.urlOf('lunas_local_operator'),
    urls: apis.map(({ url }) => url),
    operatorUrls: apis.map(({ operatorUrl }) => operatorUrl),
    logged: () => collected.text(),
    async newKey({ approve = true, ...access } = {}) {
      const merchant = await insertMerchant(db, { name: 'M', feePayer: 'merchant', providers: ['gopay'], approve });
      return issueKey(db, { merchantId: merchant.id, environment: 'sandbox', ...access });
    },
    async close() {
      await Promise.all(apis.map((api) => api.close()));
      await db.end();
      await expectNoDeniedStatement(database.url);
      await database.drop();
    },
  };
}

export interface ApiResult {
  readonly status: number;
  readonly headers: Headers;
  /** The contract's error code, or undefined. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

const NO_SUCH_PAYMENT = '/payments/01935b6c-7c00-7000-8000-000000000000';

/** Reads a payment that does not exist. An authenticated request gets 404 `not_found`. */
export function callApi(url: string, secret: string, headers: Record<string, string> = {}): Promise<ApiResult> {
  return sendRequest(url + NO_SUCH_PAYMENT, { headers: { authorization: `Bearer ${secret}`, ...headers } });
}

const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export async function sendRequest(url: string, init: RequestInit = {}): Promise<ApiResult> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
  const failure = failureSchema.safeParse(await response.json().catch(() => undefined));
  return {
    status: response.status,
    headers: response.headers,
    code: failure.data?.error.code,
    message: failure.data?.error.message,
  };
}
