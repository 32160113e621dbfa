import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { createLogger } from '../../../src/observability/logger';
import { startWorker } from '../../../src/servers/worker';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { BoundedClient } from '../../../src/temporal/bounded-client';
import { setCurrentVersion } from '../../../src/temporal/worker-versions';
import { paymentWorkflowId } from '../../../workflows/ids';
import { RETENTION_DAYS } from '../../support/activity-dependencies';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import {
  newNamespace,
  operatorEnvironment,
  startTestService,
  workerDefaults,
  type TestService,
} from '../../support/service';
import { workflowBundlePath } from '../../support/temporal';

/** Workers of two versions, at the same time. */
const CHANGED_WORKFLOWS = path.join(__dirname, '..', '..', 'support', 'changed-workflows.ts');

let service: TestService;
let directory: string;
const workers: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await service.stopWorker();
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 1 });
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-versions-'));
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await service.close();
  await rm(directory, { recursive: true });
});

async function startVersion(buildId: string, bundle: string): Promise<void> {
  workers.push(
    await startWorker({
      databaseUrl: service.databaseUrl,
      temporal: service.temporal,
      masterKey: service.masterKey,
      environment: 'sandbox',
      publicBaseUrl: service.apiUrl,
      refundHoldSeconds: 60,
      retentionDays: RETENTION_DAYS,
      workflowBundlePath: bundle,
      version: { deploymentName: 'lunas', buildId },
      ...workerDefaults(100),
      log: createLogger('test', process.env.LOG_LEVEL ?? 'silent'),
      onFailure: (error) => {
        throw error;
      },
    }),
  );
}

async function changedBundle(): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath: CHANGED_WORKFLOWS, logger: new DefaultLogger('ERROR') });
  const bundle = path.join(directory, 'bundle.js');
  await writeFile(bundle, code);
  return bundle;
}

const lunas = (...args: string[]) =>
  runBuiltLunas(args, {
    ...operatorEnvironment(service),
    LUNAS_HOME: '/nonexistent',
  });

/** As an operator does after a deploy: again, until the workers of the version have polled. */
async function useVersion(buildId: string): Promise<void> {
  await eventually(
    () => lunas('temporal', 'use-version', buildId),
    ({ exitCode }) => exitCode === 0,
  );
}

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function create(): Promise<Created> {
  const { status, body } = await service.call('POST', '/payments', { amount: 20_000 });
  expect(status).toBe(201);
  return body.payment;
}

/** The version that completed the workflow, and whether one of its tasks failed. */
async function completionOf({ id }: Created): Promise<{ buildId: string | undefined; failedTasks: number }> {
  const handle = service.client.workflow.getHandle(paymentWorkflowId(id));
  await handle.result();
  const { raw } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const failedTasks = (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;
  return { buildId: raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined, failedTasks };
}

it('payments complete on the version on which they started, also after going back', async () => {
  await startVersion('one', workflowBundlePath());
  await useVersion('one');
  const before = await create();

  await startVersion('two', await changedBundle());
  await useVersion('two');
  const after = await create();

  await useVersion('one');
  const rolledBack = await create();
  const { stdout } = await lunas('temporal', 'versions', '--json');
  expect(JSON.parse(String(stdout)).versions).toMatchObject([
    { build_id: 'two', status: expect.stringMatching(/^drain/) },
    { build_id: 'one', status: 'current' },
  ]);

  await Promise.all([before, after, rolledBack].map(({ reference_id }) => service.pay(reference_id)));
  expect(await Promise.all([before, after, rolledBack].map(completionOf))).toEqual([
    { buildId: 'one', failedTasks: 0 },
    { buildId: 'two', failedTasks: 0 },
    { buildId: 'one', failedTasks: 0 },
  ]);
});

it('a version whose workers have ended cannot become the current one', async () => {
  await workers.pop()?.close();
  // The last poll has to be older than `withinMs`.
  await sleep(1_000);
  const client = new BoundedClient(service.client);
  const version = { deploymentName: 'lunas', buildId: 'two' };
  const set = setCurrentVersion(client, version, false, { withinMs: 100, waitMs: 1_000 });
  await expect(set).rejects.toThrow('start its workers');
});

it('a version without workers cannot become the current one', async () => {
  const { exitCode, stderr } = await lunas('temporal', 'use-version', 'none');
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('start its workers')]);
});
