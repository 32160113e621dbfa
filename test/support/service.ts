import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { z } from 'zod';
import { loadConfig, workerSizesOf, type MetricsAddress } from '../../src/config';
import { createPool, type Pool } from '../../src/db/connection/pool';
import type { TransitionContext } from '../../src/db/transitions/apply-transition';
import { createLogger, type Logger } from '../../src/observability/logger';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import type { Fault, FaultKind, FaultOperation } from '../../src/sandbox/faults';
import { startSandbox } from '../../src/sandbox/sandbox';
import { startApi } from '../../src/servers/api-server';
import { startWorker, type WorkerSettings } from '../../src/servers/worker';
import { seedDemo } from '../../src/services/sandbox/seed-demo';
import { connectClient, type TemporalTarget } from '../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { RETENTION_DAYS } from './activity-dependencies';
import { expectContract } from './contract';
import { createTestDatabase, expectNoDeniedStatement, newLedger, processUrl, type TestDatabase } from './database';
import { freeListeners } from './listeners';
import { payloadKeysOf } from './payload-keys';
import { temporalAddress, workflowBundlePath } from './temporal';

/** All roles, and the sizes that a worker has by default. */
export function workerDefaults(workflowCache: number): Pick<WorkerSettings, 'roles' | 'sizes'> {
  const config = loadConfig({});
  return { roles: config.WORKER_ROLES, sizes: { ...workerSizesOf(config), workflowCache } };
}

/** The timeout of any response to a test: a busy machine takes several times the 10 s of the API. */
export const RESPONSE_TIMEOUT_MS = 60_000;

/** Tests of the limits set their own. */
export const NO_LIMITS = {
  requestsPerMinute: 1_000_000,
  publicRequestsPerSecond: 1_000_000,
  maxConnections: 100_000,
  maxConnectionsPerClient: 100_000,
  databasePoolSize: 20,
  maxCreatesInFlight: 1_000_000,
  requestLogRows: 100_000,
} as const;

/** The whole service. The API and a worker run in this process, with their own database and sandbox. */
export interface TestService {
  readonly db: Pool;
  readonly workflows: PaymentWorkflowClient;
  /** For statements of transitions, as `lunas recover` uses them. */
  readonly context: TransitionContext;
  /** With the rights of a command. */
  readonly operatorContext: TransitionContext;
  readonly client: Client;
  readonly apiUrl: string;
  readonly operatorUrl: string;
  readonly sandboxUrl: string;
  readonly merchantId: string;
  readonly secretKey: string;
  readonly masterKey: string;
  /** The URL with a role that every process can run with, for more processes. */
  readonly databaseUrl: string;
  /** The URL with the operators' role, for commands. */
  readonly operatorDatabaseUrl: string;
  /** The URL with the dashboard's role. */
  readonly dashboardDatabaseUrl: string;
  readonly temporal: TemporalTarget;
  /** A call to the API with the demo merchant's key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** A call to the operator API. */
  callOperator(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** The database of the provider's ledger, in which tests plant inconsistencies. */
  readonly providerDb: Pool;
  /** The orders of the provider's ledger, by reference. */
  providerLedger(): Promise<Map<string, SandboxOrder>>;
  /** The order in the provider's ledger, or undefined. */
  atProvider(referenceId: string): Promise<SandboxOrder | undefined>;
  /** The names of the payment's transitions, in order. */
  transitionsOf(paymentId: string): Promise<string[]>;
  /** A customer pays at the sandbox. */
  pay(referenceId: string, options?: { notify?: boolean; times?: number }): Promise<void>;
  /** The next calls of the operation fail at the sandbox. */
  injectFault(operation: FaultOperation, kind: FaultKind, times?: number): Promise<void>;
  clearFaults(): Promise<void>;
  /** The merchant refunds the payment in the provider's dashboard. Lunas does not take part. */
  refundAtProvider(referenceId: string, amount?: number): Promise<void>;
  stopWorker(): Promise<void>;
  startWorker(variant?: Partial<WorkerVariant>): Promise<void>;
  /** Beside that one. The test closes it. */
  anotherWorker(): Promise<{ close(): Promise<void> }>;
  close(): Promise<void>;
}

type WorkerVariant = Pick<WorkerSettings, 'beginsRecovery' | 'hasWorkflowStackTraces'>;

const ledgerSchema = z.object({
  payments: z.array(
    z.object({
      order_id: z.string(),
      status: z.string(),
      transaction_id: z.string(),
      transaction_time: z.string(),
      charge_calls: z.number(),
      status_calls: z.number(),
      refunds: z.array(z.object({ refund_key: z.string(), amount: z.number(), status: z.string() })),
    }),
  ),
});

export type SandboxOrder = z.infer<typeof ledgerSchema>['payments'][number];

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests read any response.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** On the shared dev server each test file has a namespace, so that no worker takes the tasks of another file. */
export async function newNamespace(): Promise<TemporalTarget> {
  const namespace = `test-${randomUUID()}`;
  const target = { address: temporalAddress(), namespace, security: {} };
  const client = connectClient(target, NO_PAYLOAD_KEYS);
  try {
    await client.connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(86_400_000),
    });
    await client.connection.workflowService.describeNamespace({ namespace });
  } finally {
    await client.connection.close();
  }
  return target;
}

export const newMasterKey = (): string => randomBytes(32).toString('base64');

export interface TestServiceOptions {
  /** With 0 the worker replays a workflow's history at each of its tasks. */
  readonly maxCachedWorkflows?: number;
  readonly refundHoldSeconds?: number;
  readonly masterKey?: string;
  readonly oldMasterKeys?: readonly string[];
  /** Without it no create is rejected. */
  readonly maxCreatesInFlight?: number;
  /** The logger of the API, the worker and the sandbox. */
  readonly log?: Logger;
  /** By process; without it there are no metrics. */
  readonly metrics?: { readonly worker: MetricsAddress; readonly api?: MetricsAddress };
}

/** What a command of an operator needs to reach the service. */
export const operatorEnvironment = ({ operatorDatabaseUrl, temporal, masterKey }: TestService) => ({
  DATABASE_URL: operatorDatabaseUrl,
  TEMPORAL_ADDRESS: temporal.address,
  TEMPORAL_NAMESPACE: temporal.namespace,
  LUNAS_MASTER_KEY: masterKey,
});

export async function startTestService(
  temporal: TemporalTarget,
  {
    maxCachedWorkflows = 100,
    refundHoldSeconds = 60,
    masterKey = newMasterKey(),
    oldMasterKeys = [],
    maxCreatesInFlight = NO_LIMITS.maxCreatesInFlight,
    log = createLogger('test', process.env.LOG_LEVEL ?? 'silent'),
    metrics,
  }: TestServiceOptions = {},
): Promise<TestService> {
  const database = await createTestDatabase();
  const ledger = await newLedger();
  const { listeners, apiUrl, operatorUrl } = await freeListeners();
  const sandbox = await startSandbox({ port: 0, host: '127.0.0.1', databaseUrl: processUrl(ledger.url), log });
  const { merchantId, secretKey } = await seedSandbox(database.url, masterKey, sandbox.url);
  const settings = { masterKey, oldMasterKeys, environment: 'sandbox', temporal, publicBaseUrl: apiUrl, log } as const;
  const db = createPool(database.url, { max: 4 });
  const operatorDb = createPool(database.urlOf('lunas_local_operator'), { max: 4 });
  const providerDb = createPool(ledger.url, { max: 2 });
  const client = connectClient(temporal, payloadKeysOf(masterKey, ...oldMasterKeys));
  const workflows = new PaymentWorkflowClient(client);
  const processes = workerProcesses(database, {
    ...settings,
    ...workerDefaults(maxCachedWorkflows),
    refundHoldSeconds,
    metrics: metrics?.worker,
    retentionDays: RETENTION_DAYS,
    workflowBundlePath: workflowBundlePath(),
    onFailure: (error: unknown) => log.fatal({ err: error }, 'the worker failed'),
  });
  const worker = restartableWorker((variant) => startWorkers(processes, variant));
  const apiSettings = { ...settings, databaseUrl: database.urlOf('lunas_local_api'), metrics: metrics?.api };
  const api = await startApi({ ...apiSettings, ...listeners, ...NO_LIMITS, maxCreatesInFlight });
  await withRetry(() => worker.startWorker());
  return {
    db,
    workflows,
    context: contextOf(db),
    operatorContext: contextOf(operatorDb),
    client,
    providerDb,
    apiUrl,
    operatorUrl,
    sandboxUrl: sandbox.url,
    merchantId,
    secretKey,
    masterKey,
    databaseUrl: database.urlOf('lunas_local'),
    ...roleUrls(database),
    temporal,
    call: apiCaller(apiUrl, secretKey),
    callOperator: apiCaller(operatorUrl, secretKey),
    transitionsOf: (paymentId) => listTransitions(db, paymentId),
    ...sandboxMethods(sandbox.url),
    ...worker,
    async close() {
      await worker.stopWorker();
      await api.close();
      await sandbox.close();
      await workflows.close();
      await Promise.all([db, operatorDb, providerDb].map((pool) => pool.end()));
      await expectNoDeniedStatement(database.url);
      await Promise.all([database.drop(), ledger.drop()]);
    },
  };
}

function roleUrls(database: TestDatabase): Pick<TestService, 'operatorDatabaseUrl' | 'dashboardDatabaseUrl'> {
  return {
    operatorDatabaseUrl: database.urlOf('lunas_local_operator'),
    dashboardDatabaseUrl: database.urlOf('lunas_local_dashboard'),
  };
}

function seedSandbox(databaseUrl: string, masterKey: string, sandboxUrl: string): ReturnType<typeof seedDemo> {
  const sandbox = { sandboxUrl, sandboxServerKey: SANDBOX_SERVER_KEY };
  // A test that waits for a settlement waits ten seconds.
  return seedDemo({ databaseUrl, masterKey, ...sandbox, settlementDelaySeconds: 10 });
}

const contextOf = (db: Pool): TransitionContext => ({ db, environment: 'sandbox', onDeliveries: () => undefined });

function apiCaller(apiUrl: string, secretKey: string): TestService['call'] {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    const parsed = isJson ? JSON.parse(text) : undefined;
    const result = { status: response.status, headers: response.headers, text, body: parsed };
    expectContract(method, path, result);
    return result;
  };
}

async function listTransitions(db: Pool, paymentId: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    'select name from payment_transitions where payment_id = $1 order by version',
    [paymentId],
  );
  return rows.map(({ name }) => name);
}

function sandboxMethods(
  sandboxUrl: string,
): Pick<TestService, 'providerLedger' | 'atProvider' | 'pay' | 'injectFault' | 'clearFaults' | 'refundAtProvider'> {
  const providerLedger = async (): Promise<Map<string, SandboxOrder>> => {
    const response = await fetch(`${sandboxUrl}/simulator/payments`);
    const { payments } = ledgerSchema.parse(await response.json());
    return new Map(payments.map((payment) => [payment.order_id, payment]));
  };
  return {
    providerLedger,
    atProvider: async (referenceId) => (await providerLedger()).get(referenceId),
    async pay(referenceId, options = {}) {
      const response = await fetch(`${sandboxUrl}/simulator/payments/${referenceId}/pay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(options),
      });
      if (!response.ok) throw new Error(`The sandbox returned ${response.status}: ${await response.text()}`);
    },
    injectFault: (operation, kind, times = 1) => setFaults(sandboxUrl, 'PUT', { operation, kind, times }),
    clearFaults: () => setFaults(sandboxUrl, 'DELETE'),
    async refundAtProvider(referenceId, amount = 50_000) {
      const response = await fetch(`${sandboxUrl}/v2/${referenceId}/refund`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}`,
        },
        body: JSON.stringify({ refund_key: randomUUID(), amount, reason: 'by hand' }),
      });
      expect(await response.json()).toMatchObject({ status_code: '200' });
    },
  };
}

async function setFaults(sandboxUrl: string, method: 'PUT' | 'DELETE', fault?: Fault): Promise<void> {
  const response = await fetch(`${sandboxUrl}/simulator/faults`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(fault && { body: JSON.stringify(fault) }),
  });
  if (!response.ok) throw new Error(`The sandbox returned ${response.status}: ${await response.text()}`);
}

/** As in production, payouts and verifications have workers with database roles of their own. The first has metrics. */
function workerProcesses(
  database: TestDatabase,
  { metrics, ...settings }: Omit<WorkerSettings, 'databaseUrl'>,
): readonly WorkerSettings[] {
  const roles = settings.roles.filter((role) => role !== 'payouts' && role !== 'verifier');
  return [
    { ...settings, metrics, roles, databaseUrl: database.urlOf('lunas_local_worker') },
    { ...settings, roles: ['payouts'], databaseUrl: database.urlOf('lunas_local_payouts') },
    { ...settings, roles: ['verifier'], databaseUrl: database.urlOf('lunas_local_verifier') },
  ];
}

/** None runs if one cannot start. The first one installs the SDK's runtime, with its metrics. */
async function startWorkers(
  processes: readonly WorkerSettings[],
  variant: Partial<WorkerVariant>,
): Promise<{ close(): Promise<void> }> {
  const started: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((each) => each.close()));
  };
  try {
    for (const settings of processes) started.push(await startWorker({ ...settings, ...variant }));
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

function restartableWorker(
  start: (variant: Partial<WorkerVariant>) => Promise<{ close(): Promise<void> }>,
): Pick<TestService, 'startWorker' | 'stopWorker' | 'anotherWorker'> {
  let worker: { close(): Promise<void> } | undefined;
  return {
    anotherWorker: () => start({}),
    async startWorker(variant = {}) {
      worker = await start(variant);
    },
    async stopWorker() {
      await worker?.close();
      worker = undefined;
    },
  };
}

/** Some parts of the server know a new namespace later than others. */
async function withRetry(start: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 20) throw error;
      await sleep(500);
    }
  }
}
