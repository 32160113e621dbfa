import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { MetricsAddress } from '../../../src/config';
import { createSealer } from '../../../src/crypto/sealing';
import { recordReconciliationRun } from '../../../src/db/operations/reconciliation-runs';
import { freePort } from '../../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { eventually } from '../../support/eventually';
import { fetchMetrics } from '../../support/metrics-page';
import { startReceiver, type Receiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

/* Each query of each dashboard, at a real Prometheus that scrapes a real API and worker. */

const DIRECTORY = path.join(PACKAGE_ROOT, 'deploy', 'grafana');
const LOOPBACK = '127.0.0.1';
/** Grafana's `$__rate_interval` at this scrape interval. */
const RATE_INTERVAL = '15s';

const dashboardSchema = z.object({
  title: z.string(),
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});
const dashboards = readdirSync(DIRECTORY).map((name) =>
  dashboardSchema.parse(JSON.parse(readFileSync(path.join(DIRECTORY, name), 'utf8'))),
);
const queries = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel) =>
    panel.targets.map(({ expr }): [name: string, query: string] => [`${title}: ${panel.title}: ${expr}`, expr]),
  ),
);

let service: TestService;
let receiver: Receiver;
let prometheus: Prometheus;
let pages: string;

beforeAll(async () => {
  const metrics = { api: await loopbackAddress(), worker: await loopbackAddress() };
  service = await startTestService(await newNamespace(), { metrics });
  receiver = await startReceiver();
  const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
  await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
  await verifyLedger(service.db);
  const now = new Date();
  await recordReconciliationRun(service.db, { startedAt: now, changedSince: now, isComplete: true, parts: [] });
  prometheus = await Prometheus.start(metrics);
  await createPaidPayment();
  pages = (
    await Promise.all(Object.values(metrics).map(({ port }) => fetchMetrics(`http://${LOOPBACK}:${port}`)))
  ).join();
});
afterAll(async () => {
  await prometheus.stop();
  await service.close();
  await receiver.close();
});

async function loopbackAddress(): Promise<MetricsAddress> {
  return { host: LOOPBACK, port: await freePort() };
}

async function createPaidPayment(): Promise<void> {
  const { body } = await service.call('POST', '/payments', { amount: 50_000 });
  await service.pay(body.payment.reference_id);
}

const responseSchema = z.object({
  status: z.string(),
  error: z.string().optional(),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }).optional(),
});

class Prometheus {
  private constructor(
    private readonly process: ChildProcess,
    private readonly url: string,
    private readonly directory: string,
  ) {}

  /** With the repository's configuration, our targets and a short interval. */
  static async start(metrics: Readonly<Record<'api' | 'worker', MetricsAddress>>): Promise<Prometheus> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-prometheus-'));
    const source = path.join(PACKAGE_ROOT, 'deploy', 'prometheus');
    const configuration = (await readFile(path.join(source, 'prometheus.yaml'), 'utf8'))
      .replaceAll(/(interval): 15s/g, '$1: 1s')
      .replace('rules.yaml', path.join(source, 'rules.yaml'))
      .replace('127.0.0.1:9464', `${LOOPBACK}:${metrics.api.port}`)
      .replace('127.0.0.1:9465', `${LOOPBACK}:${metrics.worker.port}`);
    const file = path.join(directory, 'prometheus.yaml');
    await writeFile(file, configuration);
    const address = `${LOOPBACK}:${await freePort()}`;
    const options = [`--config.file=${file}`, `--storage.tsdb.path=${directory}`, `--web.listen-address=${address}`];
    const child = spawn('prometheus', options, { stdio: 'ignore' });
    await once(child, 'spawn');
    return new Prometheus(child, `http://${address}`, directory);
  }

  /** @returns the values, or why the query is not valid */
  async query(text: string): Promise<string[] | string> {
    const expr = text.replaceAll('$__rate_interval', RATE_INTERVAL);
    const request = fetch(`${this.url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query: expr }) });
    const response = await request.catch(() => undefined);
    if (response === undefined || response.status === 503) return [];
    const { error, data } = responseSchema.parse(await response.json());
    return error ?? data?.result.map(({ value }) => value[1]) ?? [];
  }

  async stop(): Promise<void> {
    const exited = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exited;
    await rm(this.directory, { recursive: true });
  }
}

it.each(queries)('%s', async (_name, query) => {
  // A rate needs payments between two scrapes, and its window passes.
  const read = async () => {
    const values = await prometheus.query(query);
    if (values.length === 0 || (Array.isArray(values) && values.includes('NaN'))) await createPaidPayment();
    return values;
  };
  const values = await eventually(
    read,
    (found) => typeof found === 'string' || (found.length > 0 && !found.every((value) => value === 'NaN')),
  );
  expect(values).toEqual(expect.any(Array));
});

it('the queries use only exported metrics', () => {
  const exported = new Set([...pages.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const text = queries.map(([, query]) => query).join('\n');
  const used = [...text.matchAll(/\b(?:lunas|temporal|process)_\w+/g)];
  const unknown = used
    .map(([name]) => name.replace(/_(?:bucket|count|sum)$/, ''))
    .filter((name) => !exported.has(name));
  expect(unknown).toEqual([]);
});
