import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { ManagedProcess } from '../../../src/local-stack/managed-process';
import { freePort } from '../../../src/local-stack/ports';
import { PostgresCluster } from '../../../src/local-stack/postgres';
import { connectClient } from '../../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../../src/temporal/payment-workflow-client';
import { startWorkerMetrics } from '../../../src/worker/worker-metrics';
import { SILENT } from '../../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { fetchMetrics, parseSeries } from '../../support/metrics-page';
import { createTemporalSchema, startPostgresTemporal } from '../../support/postgres-temporal';

/** A Temporal server whose PostgreSQL is stopped. The server goes on, and its frontend still responds. */

const SEEN_WITHIN_MS = 90_000;
const UP = 'lunas_dependency_up{dependency="temporal"}';

let directory: string;
let database: TestDatabase;
let db: Pool;
let store: ManagedProcess;
let temporal: ManagedProcess;
let workflows: PaymentWorkflowClient;
let page: string;
let metrics: Awaited<ReturnType<typeof startWorkerMetrics>>;

beforeAll(async () => {
  const { signal } = new AbortController();
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-temporal-'));
  // If root starts PostgreSQL, it runs as the OS user `nobody`, which needs access.
  await chmod(directory, 0o711);
  const files = { directory: path.join(directory, 'postgres'), logFile: path.join(directory, 'postgres.log') };
  const cluster = await PostgresCluster.open({ ...files, port: await freePort() }, signal);
  store = await cluster.start(signal);
  const databaseUrl = cluster.databaseUrl('postgres');
  await createTemporalSchema(databaseUrl, signal);
  const server = path.join(directory, 'temporal');
  await mkdir(server);
  const port = await freePort();
  const logFile = path.join(directory, 'temporal.log');
  temporal = await startPostgresTemporal({ directory: server, logFile, port, databaseUrl }, signal);

  database = await createTestDatabase();
  db = createPool(database.url, { max: 1 });
  const target = { address: `127.0.0.1:${port}`, namespace: 'default', security: {} };
  workflows = new PaymentWorkflowClient(connectClient(target, NO_PAYLOAD_KEYS));
  const address = { host: '127.0.0.1', port: await freePort() };
  page = `http://${address.host}:${address.port}`;
  metrics = await startWorkerMetrics(
    { metrics: address, databaseUrl: database.url, roles: ['sweeper'], log: SILENT },
    { db, workflows, workers: [], sdkMetrics: undefined, stopSignal: new AbortController().signal },
  );
});
afterAll(async () => {
  await metrics?.close();
  await Promise.all([workflows.close(), db.end()]);
  await temporal.stop();
  await Promise.all([store.stop(), database.drop()]);
  await rm(directory, { recursive: true });
});

const isUp = async () => parseSeries(await fetchMetrics(page)).get(UP);

it('a worker reports Temporal as down within 30 s although its frontend responds', async () => {
  expect(await eventually(isUp, (value) => value === 1)).toBe(1);
  await store.stop();
  expect(await eventually(isUp, (value) => value === 0, SEEN_WITHIN_MS)).toBe(0);
  expect(temporal.running).toBe(true);
  expect((await fetch(`${page}/readyz`)).status).toBe(503);
});
