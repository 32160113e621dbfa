import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { msToTs } from '@temporalio/common/lib/time';
import { startApi } from '../../src/api/server';
import { createPool, type Pool } from '../../src/db/pool';
import type { TransitionContext } from '../../src/db/transitions/apply-transition';
import { freePort } from '../../src/local-stack/ports';
import { connectClient, type TemporalTarget } from '../../src/temporal/connection';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { startWorker } from '../../src/temporal/worker';
import { createLogger } from '../../src/logger';
import { seedDemo } from '../../src/operator/seed-demo';
import { startSandbox } from '../../src/sandbox/sandbox';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { expectContract } from './contract';
import { createTestDatabase, newDatabase } from './database';
import { temporalAddress, workflowBundlePath } from './temporal';

/** The whole service on real parts: database and sandbox of its own, the API and a worker in this process. */
export interface TestService {
  readonly db: Pool;
  readonly workflows: PaymentWorkflowClient;
  /** For the writers of a state, as `lunas recover` uses them. */
  readonly context: TransitionContext;
  readonly client: Client;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly merchantId: string;
  readonly secretKey: string;
  readonly masterKey: string;
  /** For further API processes beside the service's own. */
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  /** A call to the API with the demo merchant's key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  /** The database of the provider's ledger, to plant what never should be. */
  readonly providerDb: Pool;
  /** All that the provider's ledger holds, by reference. */
  providerLedger(): Promise<Map<string, SandboxOrder>>;
  /** What the provider's ledger holds of an order; undefined when it has none. */
  atProvider(referenceId: string): Promise<SandboxOrder | undefined>;
  /** The names of the steps that a payment has taken, in order. */
  transitionsOf(paymentId: string): Promise<string[]>;
  /** A customer pays at the sandbox. */
  pay(referenceId: string, options?: { notify?: boolean; times?: number }): Promise<void>;
  /** The merchant refunds it in the provider's own dashboard, past us. */
  refundAtProvider(referenceId: string, amount?: number): Promise<void>;
  stopWorker(): Promise<void>;
  startWorker(options?: { readonly isRecovering: boolean }): Promise<void>;
  close(): Promise<void>;
}

const ledgerSchema = z.object({
  payments: z.array(
    z.object({
      order_id: z.string(),
      status: z.string(),
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
  // Tests read any answer.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** A namespace of its own on the shared dev server keeps test files from taking each other's tasks. */
export async function newNamespace(): Promise<TemporalTarget> {
  const namespace = `test-${randomUUID()}`;
  const target = { address: temporalAddress(), namespace, security: {} };
  const client = connectClient(target);
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

export interface TestServiceOptions {
  /** 0 replays every workflow at each of its tasks. */
  readonly maxCachedWorkflows?: number;
  readonly refundHoldSeconds?: number;
}

export async function startTestService(
  temporal: TemporalTarget,
  { maxCachedWorkflows = 100, refundHoldSeconds = 60 }: TestServiceOptions = {},
): Promise<TestService> {
  const database = await createTestDatabase();
  const ledger = newDatabase();
  const masterKey = randomBytes(32).toString('base64');
  const log = createLogger('test', process.env.LOG_LEVEL ?? 'silent');
  const apiPort = await freePort();
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const sandbox = await startSandbox({
    port: 0,
    host: '127.0.0.1',
    databaseUrl: ledger.url,
    notificationUrl: null,
    log,
  });
  const { merchantId, secretKey } = await seedDemo({
    databaseUrl: database.url,
    masterKey,
    sandboxUrl: sandbox.url,
    sandboxServerKey: SANDBOX_SERVER_KEY,
  });
  const settings = { databaseUrl: database.url, temporal, masterKey, publicBaseUrl: apiUrl, log };
  const db = createPool(database.url, { max: 4 });
  const providerDb = createPool(ledger.url, { max: 2 });
  const client = connectClient(temporal);
  const workflows = new PaymentWorkflowClient(client);

  let worker: { close(): Promise<void> } | undefined;
  const service: TestService = {
    db,
    workflows,
    context: { db, environment: 'sandbox', onDeliveries: () => undefined },
    client,
    providerDb,
    apiUrl,
    sandboxUrl: sandbox.url,
    merchantId,
    secretKey,
    masterKey,
    databaseUrl: database.url,
    temporal,
    async call(method, path, body, headers = {}) {
      const response = await fetch(apiUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${secretKey}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      const parsed = isJson ? JSON.parse(text) : undefined;
      const result = { status: response.status, headers: response.headers, text, body: parsed };
      expectContract(method, path, result);
      return result;
    },
    async providerLedger() {
      const response = await fetch(`${sandbox.url}/simulator/payments`);
      const { payments } = ledgerSchema.parse(await response.json());
      return new Map(payments.map((payment) => [payment.order_id, payment]));
    },
    async atProvider(referenceId) {
      return (await service.providerLedger()).get(referenceId);
    },
    async transitionsOf(paymentId) {
      const { rows } = await db.query<{ name: string }>(
        'select name from payment_transitions where payment_id = $1 order by version',
        [paymentId],
      );
      return rows.map(({ name }) => name);
    },
    async pay(referenceId, options = {}) {
      const response = await fetch(`${sandbox.url}/simulator/payments/${referenceId}/pay`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(options),
      });
      if (!response.ok) throw new Error(`The sandbox answered ${response.status}: ${await response.text()}`);
    },
    async refundAtProvider(referenceId, amount = 50_000) {
      const response = await fetch(`${sandbox.url}/v2/${referenceId}/refund`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}`,
        },
        body: JSON.stringify({ refund_key: randomUUID(), amount, reason: 'by hand' }),
      });
      expect(await response.json()).toMatchObject({ status_code: '200' });
    },
    async startWorker({ isRecovering } = { isRecovering: false }) {
      worker = await startWorker({
        ...settings,
        environment: 'sandbox',
        maxCachedWorkflows,
        refundHoldSeconds,
        isRecovering,
        workflowBundlePath: workflowBundlePath(),
        onFailure: (error) => log.fatal({ err: error }, 'the worker failed'),
      });
    },
    async stopWorker() {
      await worker?.close();
      worker = undefined;
    },
    async close() {
      await service.stopWorker();
      await api.close();
      await sandbox.close();
      await workflows.close();
      await Promise.all([db.end(), providerDb.end()]);
      await Promise.all([database.drop(), ledger.drop()]);
    },
  };
  const api = await startApi({ ...settings, port: apiPort, host: '127.0.0.1', requestsPerMinute: 1_000_000 });
  await withRetry(() => service.startWorker());
  return service;
}

/** A namespace is not known to every part of the server at once. */
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
