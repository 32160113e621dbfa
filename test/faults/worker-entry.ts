import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../../activities';
import { DerivedKeys } from '../../src/crypto/derived-keys';
import { publicAddresses } from '../../src/crypto/public-links';
import { createSealer } from '../../src/crypto/sealing';
import { createPool } from '../../src/db/connection/pool';
import { createLogger } from '../../src/observability/logger';
import { createPayoutRegistry } from '../../src/providers/payout-registry';
import { createProviderRegistry } from '../../src/providers/registry';
import { issueDueInvoices } from '../../src/services/invoices/issue-invoices';
import { requestScheduledPayouts } from '../../src/services/payouts/scheduled-payouts';
import { reconcileBatch } from '../../src/services/reconciliation/compare-payments';
import { RecoveryWatch } from '../../src/services/recovery/recovery-watch';
import { createVerifications } from '../../src/services/verification/verifications';
import { bodyExpander } from '../../src/services/webhooks/expand-body';
import { connectClient } from '../../src/temporal/connection';
import { EncryptingCodec, payloadKeys, WorkerCodec } from '../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { requireTemporal } from '../../src/temporal/requirements';
import { Relay, type FailedDelivery } from '../../src/webhooks/relay';
import { createWebhookSender } from '../../src/webhooks/send';
import { installRuntime } from '../../src/worker/runtime';
import { startSweeper } from '../../src/worker/sweeper';
import { PAYMENTS_TASK_QUEUE, PAYOUTS_TASK_QUEUE, WEBHOOKS_TASK_QUEUE } from '../../workflows/ids';
import { RETENTION_DAYS } from '../support/activity-dependencies';
import { report } from './breakpoint';
import { forgetKeys } from './forgetful-acquirer';
import { instrumentProviders, instrumentQueries, WORKER_BREAKPOINTS } from './instrumented';
import { instrumentDailyRun, instrumentPayouts, PAYOUTS_BREAKPOINTS } from './instrumented-payouts';
import { repeatSubmissions } from './payout-mutants';
import { apiUrlOf, readSettings } from './settings';

/** The name of this process: `payouts` is the worker of payouts, which has a database role of its own. */
const IS_OF_PAYOUTS = process.argv[2] === 'payouts';
const TASK_QUEUES = IS_OF_PAYOUTS ? [PAYOUTS_TASK_QUEUE] : [PAYMENTS_TASK_QUEUE, WEBHOOKS_TASK_QUEUE];

/** A worker as `startWorker` composes it (src/servers/worker.ts), with breakpoints in its dependencies. */
async function run(): Promise<void> {
  const settings = readSettings();
  const { mutant } = settings;
  const log = createLogger('worker', 'warn');
  installRuntime(log);
  const temporal = { address: settings.temporalAddress, namespace: 'default', security: {} };
  const db = IS_OF_PAYOUTS
    ? repeatSubmissions(instrumentQueries(createPool(settings.payoutsDatabaseUrl), PAYOUTS_BREAKPOINTS, mutant), mutant)
    : instrumentQueries(createPool(settings.databaseUrl), WORKER_BREAKPOINTS, mutant);
  const sealer = createSealer(settings.masterKey);
  const derivedKeys = new DerivedKeys(db, sealer);
  const keys = payloadKeys(derivedKeys);
  const client = connectClient(temporal, keys);
  const workflows = new PaymentWorkflowClient(client);
  await requireTemporal({ client, target: temporal }, log);

  const webhooks = createWebhookSender({ environment: 'sandbox' });
  const expandBody = bodyExpander({ sealer, ...publicAddresses(derivedKeys, apiUrlOf(settings)) });
  const { forgetfulLedgerUrl } = settings;
  const ledger = forgetfulLedgerUrl === null ? null : createPool(forgetfulLedgerUrl, { max: 2 });
  const providers = instrumentProviders(
    createProviderRegistry({ db, sealer, publicBaseUrl: apiUrlOf(settings), log }),
    mutant,
    (provider) => (ledger === null ? provider : forgetKeys(provider, ledger)),
  );
  const recovery = new RecoveryWatch(db, log);
  let relay: Relay | undefined;
  const batchLimits = { durationMs: 30_000, stopSignal: new AbortController().signal };
  const activities = createActivities({
    db,
    log,
    sealer,
    providers,
    payouts: instrumentPayouts(createPayoutRegistry({ db, sealer, log, slotsPerAccount: 13 }), settings),
    webhooks,
    expandBody,
    environment: 'sandbox',
    refundHoldSeconds: settings.refundHoldSeconds,
    isRecovering: () => recovery.isRecovering(),
    retentionDays: RETENTION_DAYS,
    reconcileBatch: (part) => reconcileBatch({ db, providers, workflows }, part, batchLimits),
    requestScheduledPayouts: (part, run) => {
      const daily = instrumentDailyRun(workflows.payouts);
      return requestScheduledPayouts({ db, workflows: daily, log }, part, { ...batchLimits, ...run });
    },
    verifications: createVerifications({ db, log }),
    issueDueInvoices: (today) => issueDueInvoices({ db, sealer }, today),
    onDeliveries: () => relay?.wake(),
  });
  const shared: Omit<WorkerOptions, 'taskQueue'> = {
    connection: await NativeConnection.connect({ address: temporal.address }),
    namespace: temporal.namespace,
    workflowBundle: { codePath: settings.workflowBundlePath },
    activities,
    dataConverter: { payloadCodecs: [new WorkerCodec(new EncryptingCodec(keys, temporal.namespace), log)] },
    stickyQueueScheduleToStartTimeout: '1 second',
    maxCachedWorkflows: 100,
  };
  const workers = await Promise.all(TASK_QUEUES.map((taskQueue) => Worker.create({ ...shared, taskQueue })));
  const running = Promise.all(workers.map((worker) => worker.run()));
  if (!IS_OF_PAYOUTS) {
    const startRetryWorkflow = (failed: FailedDelivery) => workflows.retries.start(failed);
    relay = new Relay({ db, sealer, sender: webhooks, expandBody, startRetryWorkflow, maxInFlight: 256, log });
    startSweeper({ db, providers, workflows, log });
  }
  report({ ready: true });
  await running;
}

process.once('disconnect', () => process.exit(0));
run().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
