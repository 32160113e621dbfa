// The same service on DBOS Transact: the API of Lunas with key, rate limit and statements, its activities, its tables.
// Only the workflow system differs. A payment is a DBOS workflow in the same process, as the documentation of DBOS
// recommends. Each activity is a step, and webhooks are sent in steps. A create waits for an event of the workflow.
// A notification is a message to the workflow.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { DBOS } from '@dbos-inc/dbos-sdk';

const { asyncLocalStorage } = createRequire(import.meta.url)('@temporalio/activity');
const built = createRequire(new URL('../../dist/src/', import.meta.url));
const { createActivities } = built('../activities/index.js');
const { createPublicApp } = built('./servers/api-app.js');
const { openDependencies } = built('./servers/api-dependencies.js');
const { createLogger } = built('./observability/logger.js');
const { openSecret, VALID_SECRETS } = built('./webhooks/outbox.js');
const { recordDelivered } = built('./webhooks/record-attempt.js');
const { createWebhookSender } = built('./webhooks/send.js');

const { PORT, DATABASE_URL, DBOS_DATABASE_URL, LUNAS_MASTER_KEY, RATE_LIMIT_PER_MINUTE, MAX_CREATES_IN_FLIGHT } =
  process.env;
const CREATE_TIMEOUT_SECONDS = 9;
const STEP_TIMEOUT_MS = 6_000;

const log = createLogger('dbos', process.env.LOG_LEVEL);
const webhooks = createWebhookSender({ environment: 'sandbox' });

/** The methods of `PaymentWorkflowClient` that the API calls. */
const workflows = {
  async createPayment(terms) {
    await DBOS.startWorkflow(payment, { workflowID: terms.paymentId })(terms, Date.now());
    const status = await DBOS.getEvent(terms.paymentId, 'status', { timeoutSeconds: CREATE_TIMEOUT_SECONDS });
    if (status === null) throw new Error(`Payment ${terms.paymentId} does not exist after ${CREATE_TIMEOUT_SECONDS} s`);
  },
  async signalProviderUpdate(paymentId) {
    await DBOS.send(paymentId, true, 'paid');
    return 'signalled';
  },
  withDeadline: () => workflows,
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

const { dependencies } = openDependencies(
  {
    port: Number(PORT),
    publicBaseUrl: `http://127.0.0.1:${PORT}`,
    databaseUrl: DATABASE_URL,
    masterKey: LUNAS_MASTER_KEY,
    environment: 'sandbox',
    requestsPerMinute: Number(RATE_LIMIT_PER_MINUTE),
    publicRequestsPerSecond: Number(RATE_LIMIT_PER_MINUTE),
    maxCreatesInFlight: Number(MAX_CREATES_IN_FLIGHT),
    databasePoolSize: 10,
    maxConnections: 10_000,
    log,
  },
  () => workflows,
);
const { db, sealer, providers } = dependencies;

const activities = createActivities({
  db,
  sealer,
  providers,
  webhooks,
  environment: 'sandbox',
  refundHoldSeconds: 60,
  isRecovering: () => Promise.resolve(false),
  onDeliveries: () => undefined,
  log,
});

const RETRIED = { retriesAllowed: true, maxAttempts: 10, intervalSeconds: 1, backoffRate: 2 };

const payment = DBOS.registerWorkflow(
  async (terms, createdAtMs) => {
    let state = { status: 'created', version: 0 };
    /** A step reads the clock, because DBOS stores its result. */
    const runStep = async (name) => {
      const step = () => inActivity(() => activities[name]({ terms, state, atMs: Date.now(), createdAtMs }));
      ({ state } = await DBOS.runStep(step, { name, ...RETRIED }));
    };
    const deliver = () => DBOS.runStep(() => sendWebhooks(terms.paymentId), { name: 'sendWebhooks', ...RETRIED });

    await runStep('openPayment');
    await DBOS.setEvent('status', state.status);
    await deliver();
    if (state.status !== 'pending') return state.status;
    await DBOS.recv('paid', { timeoutSeconds: terms.expiresInSeconds });
    await runStep('confirmPaid');
    if (state.status !== 'paid') return state.status;
    await deliver();
    await DBOS.sleep(Math.max(state.settlesAtMs - Date.now(), 0));
    await runStep('settlePayment');
    await deliver();
    return state.status;
  },
  { name: 'payment' },
);

/** The activities read a deadline and a signal from their context. */
function inActivity(work) {
  const context = {
    cancellationSignal: new AbortController().signal,
    info: { startToCloseTimeoutMs: STEP_TIMEOUT_MS },
  };
  return asyncLocalStorage.run(context, work);
}

/** Sends the pending deliveries of a payment concurrently, and records each attempt. */
async function sendWebhooks(paymentId) {
  const { rows } = await db.query({
    name: 'pending_deliveries',
    text: `
      select delivery.id as "deliveryId", delivery.endpoint_id as "endpointId", event.event, event.body, endpoint.url,
        ${VALID_SECRETS} as "sealedSecrets"
      from webhook_deliveries delivery
      join webhook_events event
        on event.payment_id = delivery.payment_id and event.payment_version = delivery.payment_version
      join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
      where delivery.payment_id = $1 and delivery.status = 'pending'`,
    values: [paymentId],
  });
  await Promise.all(
    rows.map(async ({ sealedSecrets, ...delivery }) => {
      const secrets = sealedSecrets.map((sealed) => openSecret(sealed, sealer));
      const attempt = await webhooks.send({ ...delivery, secrets });
      if (attempt.failure !== null) throw new Error(attempt.failure);
      await recordDelivered(db, [{ delivery, attempt }]);
    }),
  );
}

DBOS.setConfig({
  name: 'lunas-bench',
  systemDatabaseUrl: DBOS_DATABASE_URL,
  systemDatabasePoolSize: 20,
  logLevel: 'error',
});
await DBOS.launch();

const app = createPublicApp(dependencies, 0);
process.once('disconnect', () => process.exit(0));
createServer(app).listen(Number(PORT), '127.0.0.1', () => process.send?.({ ready: true }));
