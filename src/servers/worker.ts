import { readFile } from 'node:fs/promises';
import { Worker, type WorkerOptions, type WorkflowBundle } from '@temporalio/worker';
import { createActivities } from '../../activities/index';
import { PAYMENTS_TASK_QUEUE, PAYOUTS_TASK_QUEUE, VERIFIER_TASK_QUEUE, WEBHOOKS_TASK_QUEUE } from '../../workflows/ids';
import type { Environment, MetricsAddress, WorkerSizes } from '../config';
import { DerivedKeys } from '../crypto/derived-keys';
import { publicAddresses } from '../crypto/public-links';
import { createSealer } from '../crypto/sealing';
import { createPool, LONG_STATEMENT_MS } from '../db/connection/pool';
import type { WorkerRole } from '../domain/process-roles';
import type { RetentionDays } from '../domain/retention';
import type { Logger } from '../observability/logger';
import { limitCalls } from '../providers/calls/call-slots';
import { createPayoutRegistry } from '../providers/payout-registry';
import { createProviderRegistry } from '../providers/registry';
import { issueDueInvoices } from '../services/invoices/issue-invoices';
import { requestScheduledPayouts } from '../services/payouts/scheduled-payouts';
import { reconcileBatch } from '../services/reconciliation/compare-payments';
import { RecoveryWatch } from '../services/recovery/recovery-watch';
import { createVerifications } from '../services/verification/verifications';
import { bodyExpander } from '../services/webhooks/expand-body';
import { connectClient, type TemporalTarget } from '../temporal/connection';
import { EncryptingCodec, payloadKeys, WorkerCodec, type PayloadKeys } from '../temporal/payload-codec';
import { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import { requireTemporal } from '../temporal/requirements';
import { versioningOptions, type WorkerVersion } from '../temporal/worker-versions';
import { Relay, type FailedDelivery } from '../webhooks/relay';
import { createWebhookSender, type WebhookSender } from '../webhooks/send';
import { correlateActivity } from '../worker/activity-correlation';
import { installRuntime } from '../worker/runtime';
import { createSchedules } from '../worker/schedules';
import { createSdkMetrics } from '../worker/sdk-metrics';
import { startSweeper } from '../worker/sweeper';
import { startTotals } from '../worker/totals';
import { WorkerConnection } from '../worker/worker-connection';
import { startWorkerMetrics } from '../worker/worker-metrics';
import { startHeartbeat } from './heartbeat';

/** On the bundle's first line, so that its source map stays valid. It acts on the workflows' own `Error` only. */
const WITHOUT_STACK_TRACES = 'Error.stackTraceLimit = 0; ';

export interface WorkerSettings {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly masterKey: string;
  readonly oldMasterKeys?: readonly string[] | undefined;
  readonly environment: Environment;
  /** CIDRs; the default depends on the environment. */
  readonly webhookAllowedNetworks?: readonly string[] | undefined;
  readonly webhookForbiddenNetworks?: readonly string[] | undefined;
  /** The API's address for providers and customers. */
  readonly publicBaseUrl: string;
  /** How long a refund can be cancelled before it is submitted to the provider. */
  readonly refundHoldSeconds: number;
  readonly retentionDays: RetentionDays;
  /** `LUNAS_RECOVERY_MODE`: the worker begins recovery mode, for all workers, until `lunas recovery end`. */
  readonly beginsRecovery?: boolean | undefined;
  /** `METRICS_PORT`; without it the worker serves no metrics and no probes. */
  readonly metrics?: MetricsAddress | undefined;
  /** Built by `npm run build`. */
  readonly workflowBundlePath: string;
  /** `WORKFLOW_STACK_TRACES` */
  readonly hasWorkflowStackTraces?: boolean | undefined;
  readonly log: Logger;
  /** `TEMPORAL_WORKER_BUILD_ID`; without it the worker is not versioned. */
  readonly version?: WorkerVersion | undefined;
  /** `WORKER_ROLES` */
  readonly roles: readonly WorkerRole[];
  /** With a workflow cache of 0 every workflow task replays its history. */
  readonly sizes: WorkerSizes;
  /** Called if the worker stops because of an error; the process should end and be started again. */
  readonly onFailure: (error: unknown) => void;
}

const SHUTDOWN_GRACE_TIME = '10 seconds';
const STICKY_TIMEOUT = '1 second';
/** One for each verification that may run at the same time, and their steps. */
const VERIFICATION_CONNECTIONS = 4;
/** The roles that poll a task queue. */
const TASK_QUEUES: readonly { readonly role: WorkerRole; readonly taskQueue: string }[] = [
  { role: 'payments', taskQueue: PAYMENTS_TASK_QUEUE },
  { role: 'webhooks', taskQueue: WEBHOOKS_TASK_QUEUE },
  { role: 'payouts', taskQueue: PAYOUTS_TASK_QUEUE },
  { role: 'verifier', taskQueue: VERIFIER_TASK_QUEUE },
];
/** A run that fails repeats at most this much of each part. */
const RECONCILIATION_BATCH_MS = 30_000;

/**
 * Starts a worker in its roles: workflows and activities of the task queues, the webhook relay, the sweeper.
 * `close` resolves after the work in flight.
 */
export async function startWorker(settings: WorkerSettings): Promise<{ close(): Promise<void> }> {
  const { log, temporal, sizes, publicBaseUrl } = settings;
  const has = (role: WorkerRole): boolean => settings.roles.includes(role);
  const sdkMetrics = installRuntime(log, settings.metrics && (await createSdkMetrics()));
  const { db, verificationDb } = openPools(settings);
  const recovery = new RecoveryWatch(db, log);
  const sealer = createSealer(settings.masterKey, settings.oldMasterKeys);
  const derivedKeys = new DerivedKeys(db, sealer);
  const keys = payloadKeys(derivedKeys);
  const client = connectClient(temporal, keys);
  const workflows = new PaymentWorkflowClient(client);
  await requireTemporal({ client, target: temporal }, log);
  if (movesMoney(settings)) await recovery.start(settings.beginsRecovery);

  const webhooks = webhookSenderOf(settings);
  const expandBody = bodyExpander({ sealer, ...publicAddresses(derivedKeys, publicBaseUrl) });
  const providers = createProviderRegistry({ db, sealer, publicBaseUrl, log });
  const payouts = createPayoutRegistry({ db, sealer, log, slotsPerAccount: slotsPerAccountOf(sizes) });
  const stopping = new AbortController();
  const batchLimits = { durationMs: RECONCILIATION_BATCH_MS, stopSignal: stopping.signal };
  let relay: Relay | undefined;
  const activities = createActivities({
    db,
    sealer,
    providers: limitCalls(providers, slotsPerAccountOf(sizes)),
    payouts,
    webhooks,
    expandBody,
    environment: settings.environment,
    refundHoldSeconds: settings.refundHoldSeconds,
    isRecovering: () => recovery.isRecovering(),
    retentionDays: settings.retentionDays,
    reconcileBatch: async (part) =>
      reconcileBatch({ db, providers, workflows, isRecovering: await recovery.isRecovering() }, part, batchLimits),
    requestScheduledPayouts: (part, run) =>
      requestScheduledPayouts({ db, workflows: workflows.payouts, log }, part, { ...run, stopSignal: stopping.signal }),
    verifications: createVerifications({ db: verificationDb, log }),
    issueDueInvoices: (today) => issueDueInvoices({ db, sealer }, today),
    onDeliveries: () => relay?.wake(),
    log,
  });

  const connection = await WorkerConnection.open(temporal, log);
  const shared = { ...(await workerOptions(settings, keys)), connection: connection.native, activities };
  const workers = await Promise.all(taskQueuesOf(settings).map((taskQueue) => Worker.create({ ...shared, taskQueue })));
  connection.attach(workers);
  // What can fail comes before the first poll: Temporal would count a worker that ends then as one of its version.
  const parts = { db, workflows, workers, sdkMetrics, stopSignal: stopping.signal };
  const metrics = await startWorkerMetrics(settings, parts);
  if (has('sweeper')) await createSchedules(client, log);
  const running = Promise.all(workers.map((worker) => worker.run()));
  running.catch(settings.onFailure);
  if (has('relay')) {
    const startRetryWorkflow = (failed: FailedDelivery) => workflows.retries.start(failed);
    const sending = { sender: webhooks, expandBody, startRetryWorkflow };
    relay = new Relay({ db, sealer, ...sending, maxInFlight: sizes.relaySlots, log });
  }
  const sweeping = has('sweeper') ? [startSweeper({ db, providers, workflows, log }), startTotals({ db, log })] : [];
  const repeated = [...sweeping, startHeartbeat(db, settings.roles, log)];

  return {
    async close() {
      stopping.abort();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all([running.catch(() => undefined), relay?.stop(), ...repeated.map((each) => each.stop())]);
      await closeAll([webhooks, providers, payouts, connection, workflows, metrics]);
      await Promise.all([db.end(), verificationDb.end()]);
    },
  };
}

async function closeAll(parts: readonly ({ close(): Promise<unknown> } | undefined)[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part?.close()));
}

function taskQueuesOf({ roles }: WorkerSettings): string[] {
  return TASK_QUEUES.flatMap(({ role, taskQueue }) => (roles.includes(role) ? [taskQueue] : []));
}

function openPools({ databaseUrl, sizes }: WorkerSettings) {
  const verification = { max: VERIFICATION_CONNECTIONS, statementTimeoutMs: LONG_STATEMENT_MS };
  return {
    db: createPool(databaseUrl, { max: sizes.databasePool }),
    verificationDb: createPool(databaseUrl, verification),
  };
}

/** The database role of a worker that only verifies cannot begin recovery mode. */
function movesMoney({ roles }: WorkerSettings): boolean {
  return roles.some((role) => role !== 'verifier');
}

/** A first attempt of a provider call occupies the slot of its workflow task. An account that hangs gets a third. */
function slotsPerAccountOf({ workflowTaskSlots }: WorkerSizes): number {
  return Math.floor(workflowTaskSlots / 3);
}

function webhookSenderOf(settings: WorkerSettings): WebhookSender {
  return createWebhookSender({
    environment: settings.environment,
    allowedNetworks: settings.webhookAllowedNetworks,
    forbiddenNetworks: settings.webhookForbiddenNetworks,
  });
}

/** The options that the workers of every task queue have. */
async function workerOptions(
  { temporal, workflowBundlePath, hasWorkflowStackTraces = false, version, sizes, log }: WorkerSettings,
  keys: PayloadKeys,
): Promise<Omit<WorkerOptions, 'taskQueue'>> {
  return {
    ...versioningOptions(version),
    namespace: temporal.namespace,
    workflowBundle: await readWorkflowBundle(workflowBundlePath, hasWorkflowStackTraces),
    interceptors: { activity: [correlateActivity] },
    dataConverter: { payloadCodecs: [new WorkerCodec(new EncryptingCodec(keys, temporal.namespace), log)] },
    shutdownGraceTime: SHUTDOWN_GRACE_TIME,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
    maxConcurrentWorkflowTaskExecutions: sizes.workflowTaskSlots,
    maxConcurrentActivityTaskExecutions: sizes.activitySlots,
    maxCachedWorkflows: sizes.workflowCache,
  };
}

/**
 * The workflows' code for a worker. The SDK takes a stack trace for each promise of a workflow, a fifth of a worker's
 * CPU, and has no option for it (docs/performance.md). With `hasStackTraces` the Web UI has call stacks, and failures
 * of workflow tasks have stack traces.
 */
async function readWorkflowBundle(file: string, hasStackTraces: boolean): Promise<WorkflowBundle> {
  const code = await readFile(file, 'utf8');
  return { code: hasStackTraces ? code : `${WITHOUT_STACK_TRACES}${code}` };
}
