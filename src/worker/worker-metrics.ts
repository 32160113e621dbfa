import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@temporalio/worker';
import type { MetricsAddress } from '../config';
import { createPool, type Pool } from '../db/connection/pool';
import { onlyRow } from '../db/connection/require-row';
import { readBusinessGauges } from '../db/operations/business-gauges';
import type { WorkerRole } from '../domain/process-roles';
import type { Logger } from '../observability/logger';
import type { Sample } from '../observability/metrics';
import { metricsPage, startMetricsServer, type PlainResponse } from '../observability/metrics-server';
import { processGauges } from '../observability/process-gauges';
import { enableMetrics } from '../observability/prometheus';
import { readRejectedMerchants } from '../providers/calls/rejected-merchants';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { readOutboxGauges } from '../webhooks/outbox-gauges';
import type { SdkMetrics } from './sdk-metrics';

interface WorkerMetricsSettings {
  /** Undefined: the worker serves nothing. */
  readonly metrics?: MetricsAddress | undefined;
  readonly databaseUrl: string;
  readonly roles: readonly WorkerRole[];
  readonly log: Logger;
}

/** What the worker works with. */
interface WorkerParts {
  readonly db: Pool;
  readonly workflows: Pick<PaymentWorkflowClient, 'ping'>;
  readonly workers: readonly Pick<Worker, 'getState'>[];
  /** Aborted when the worker stops: with some roles it has no `workers`. */
  readonly stopSignal: AbortSignal;
  readonly sdkMetrics: SdkMetrics | undefined;
}

/** Probes and Prometheus wait for a second or more. */
const CHECK_TIMEOUT_MS = 900;
const READINESS_FRESH_MS = 1_000;
/** Several Prometheus servers cost PostgreSQL no more than one. */
const GAUGES_FRESH_MS = 5_000;
/** The statements take milliseconds. A scrape takes 10 s at most. */
const DATABASE_LIMITS = { max: 1, connectionTimeoutMs: 2_000, statementTimeoutMs: 3_000 } as const;

/**
 * Serves `/metrics`, `/healthz` and `/readyz` of a worker, if it has an address for them. The gauges of the business
 * are read from PostgreSQL at a scrape, in a connection of their own, by each worker with the role `sweeper`. All of
 * them export the same values. The database role of payouts has no right on what they read.
 */
export async function startWorkerMetrics(
  { metrics: address, databaseUrl, roles, log }: WorkerMetricsSettings,
  worker: WorkerParts,
): Promise<{ close(): Promise<void> } | undefined> {
  if (address === undefined) return undefined;
  enableMetrics('worker');
  const metricsDb = createPool(databaseUrl, DATABASE_LIMITS);
  const ownGauges = processGauges({ work: worker.db, metrics: metricsDb });
  const readiness = cached(READINESS_FRESH_MS, () => checkReadiness(worker, metricsDb));
  const readers = [
    ownGauges.read,
    async () => dependencySamples(await readiness()),
    readRejectedMerchants,
    ...(roles.includes('sweeper')
      ? [cached(GAUGES_FRESH_MS, () => orEmpty(readDatabaseGauges(metricsDb), [], log))]
      : []),
  ];
  const routes = {
    '/metrics': async () =>
      metricsPage(readers, await orEmpty(worker.sdkMetrics?.read() ?? Promise.resolve(''), '', log)),
    '/healthz': () => Promise.resolve(json(200, { status: 'ok' })),
    '/readyz': async () => renderReadiness(await readiness()),
  };
  const server = await startMetricsServer(address, routes, log);
  return {
    async close() {
      ownGauges.stop();
      await server.close();
      await metricsDb.end();
    },
  };
}

async function readDatabaseGauges(db: Pool): Promise<Sample[]> {
  return [await readClockOffset(db), ...(await readOutboxGauges(db)), ...(await readBusinessGauges(db))];
}

/** Compared with the middle of the statement, which takes milliseconds. */
async function readClockOffset(db: Pool): Promise<Sample> {
  const sentAtMs = Date.now();
  const { rows } = await db.query<{ seconds: number }>({
    name: 'gauge_clock',
    text: 'select extract(epoch from clock_timestamp())::float8 as seconds',
  });
  const { seconds } = onlyRow(rows);
  return { name: 'lunas_clock_offset_seconds', labels: {}, value: seconds - (sentAtMs + Date.now()) / 2_000 };
}

interface WorkerReadiness {
  readonly postgresql: boolean;
  readonly temporal: boolean;
  /** False while the worker stops. */
  readonly isRunning: boolean;
}

async function checkReadiness(
  { workflows, workers, stopSignal }: WorkerParts,
  db: Pick<Pool, 'query'>,
): Promise<WorkerReadiness> {
  const [postgresql, temporal] = await Promise.all([isUp(db.query('select 1')), isUp(workflows.ping())]);
  const isRunning = !stopSignal.aborted && workers.every((worker) => worker.getState() === 'RUNNING');
  return { postgresql, temporal, isRunning };
}

function isUp(check: Promise<unknown>): Promise<boolean> {
  const responded = check.then(
    () => true,
    () => false,
  );
  return Promise.race([responded, sleep(CHECK_TIMEOUT_MS, false, { ref: false })]);
}

function renderReadiness({ postgresql, temporal, isRunning }: WorkerReadiness): PlainResponse {
  const isReady = postgresql && temporal && isRunning;
  return json(isReady ? 200 : 503, {
    status: isReady ? 'ready' : 'not_ready',
    postgresql: postgresql ? 'up' : 'down',
    temporal: temporal ? 'up' : 'down',
    worker: isRunning ? 'running' : 'stopped',
  });
}

function dependencySamples({ postgresql, temporal }: WorkerReadiness): Sample[] {
  return Object.entries({ postgresql, temporal }).map(([dependency, isUp]) => ({
    name: 'lunas_dependency_up',
    labels: { dependency },
    value: isUp ? 1 : 0,
  }));
}

function json(status: number, body: unknown): PlainResponse {
  return { status, contentType: 'application/json; charset=utf-8', body: `${JSON.stringify(body)}\n` };
}

/** The other metrics are served without these. */
async function orEmpty<Result>(read: Promise<Result>, empty: Result, log: Logger): Promise<Result> {
  try {
    return await read;
  } catch (error) {
    log.warn({ err: error }, 'metrics not readable');
    return empty;
  }
}

/** The result of the read that runs, or that completed within the last `freshMs`, else of a new one. */
function cached<Result>(freshMs: number, read: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= read().finally(() => setTimeout(() => (result = undefined), freshMs).unref());
    return result;
  };
}
