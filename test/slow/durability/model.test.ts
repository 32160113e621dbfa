import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createActivities } from '../../../activities';
import { scheduleStatusQuery } from '../../../src/db/payments/notification-inbox';
import type { StepActor } from '../../../src/domain/actor';
import type { PaymentTerms } from '../../../src/domain/payment';
import {
  MERCHANT,
  PAYMENT_ACTIONS,
  type ActionDefinition,
  type PaymentAction,
} from '../../../src/domain/payment-actions';
import type { StepInput } from '../../../src/domain/workflow-step';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { notifyWorkflow } from '../../../src/temporal/notify-workflow';
import { PaymentWorkflowClient, type RequestOutcome } from '../../../src/temporal/payment-workflow-client';
import { latePaymentWorkflowId, PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../../workflows/ids';
import { Random } from '../../faults/random';
import { activityDependencies } from '../../support/activity-dependencies';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { bySize } from '../../support/size';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../../support/temporal';
import { VirtualClock } from '../../support/virtual-clock';
import { FakeAcquirer, type FakeOperation, type Loss } from '../../workflows/model/fake-acquirer';
import {
  MESSAGES,
  ReferenceModel,
  type Deadlines,
  type Message,
  type ModelResult,
} from '../../workflows/model/reference-model';

/** `MODEL_SEED=n MODEL_STEPS=n` runs other histories, and more of them (docs/proof.md). */
const SEED = Number(process.env.MODEL_SEED ?? 20_261_121);
const STEPS = Number(process.env.MODEL_STEPS ?? bySize({ small: 800, full: 5_000 }));
const CONCURRENT_PAYMENTS = 30;
const TURNS_PER_HISTORY = 16;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;
const SKIPS_MS = [
  10 * SECOND_MS,
  30 * SECOND_MS,
  62 * SECOND_MS,
  5 * MINUTE_MS,
  16 * MINUTE_MS,
  DAY_MS,
  3 * DAY_MS,
] as const;
/**
 * A payment whose next timer is this near receives no message: either order may be right. The test server also blocks a
 * workflow whose task cancels a timer that fires meanwhile (temporalio/sdk-java#3088).
 */
const NEAR_MS = 5 * SECOND_MS;
/** A status query with the result `pending` is repeated for this long. */
const POLLING_MS = 2 * MINUTE_MS;
const IDLE_TIMEOUT_MS = 120_000;

let environment: TestWorkflowEnvironment;
let clock: VirtualClock;
/** The workflows of the payments in the current history. */
let workflowIds: readonly string[] = [];
let ledger: TestLedger;
let workflows: PaymentWorkflowClient;
let worker: Worker;
let running: Promise<void>;
const acquirer = new FakeAcquirer();
/** For each order: how many of its next steps lose their worker. */
const workerCrashes = new Map<string, number>();
const random = new Random(SEED);
const counts = { messages: 0, timePassed: 0, payments: 0 };

interface ModelledPayment {
  readonly terms: PaymentTerms;
  readonly model: ReferenceModel;
  /** What happened, for the error message. */
  readonly trace: string[];
  polledUntilMs: number;
}

interface Row extends Deadlines {
  readonly id: string;
  readonly status: string;
  readonly version: number;
}

beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
  clock = new VirtualClock(environment, async () => workflowIds, true);
  ledger = await createTestLedger();
  workflows = new PaymentWorkflowClient(environment.client);
  worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: withWorkerCrashes(createActivities(activityDependencies(ledger.context, acquirer))),
    maxCachedWorkflows: 200,
  });
  running = worker.run();
});

afterAll(async () => {
  worker.shutdown();
  await running;
  await ledger.close();
  await environment.teardown();
});

/** A worker stops after its step is in PostgreSQL and before Temporal has the result: the step is repeated. */
function withWorkerCrashes(activities: object): object {
  const losing = Object.entries(activities).map(([name, activity]) => [
    name,
    async (request: Pick<StepInput, 'terms'>) => {
      const result: unknown = await Reflect.apply(activity, undefined, [request]);
      const { referenceId } = request.terms;
      const crashes = workerCrashes.get(referenceId) ?? 0;
      workerCrashes.set(referenceId, Math.max(crashes - 1, 0));
      if (crashes > 0) throw new Error('the worker stopped');
      return result;
    },
  ]);
  return Object.fromEntries(losing);
}

describe('random histories', () => {
  it(
    `random histories of ${STEPS} messages and clock advances match the reference model (seed ${SEED})`,
    async () => {
      while (counts.messages + counts.timePassed < STEPS) {
        await runHistories();
        if (process.env.MODEL_STEPS) process.stderr.write(`${JSON.stringify(counts)}\n`);
      }
      const { breakCount, breaks } = await verifyLedger(ledger.db);
      expect(breaks).toEqual([]);
      expect(breakCount).toBe(0);
    },
    Math.max(1_800_000, STEPS * 60),
  );
});

/** Concurrent payments, from their creation to a final status. */
async function runHistories(): Promise<void> {
  const payments = Array.from({ length: CONCURRENT_PAYMENTS }, newPayment);
  counts.payments += payments.length;
  workflowIds = payments.map(({ terms }) => paymentWorkflowId(terms.paymentId));
  await clock.advanceWhile(Promise.all(payments.map(open)));
  await waitUntilIdle(payments);
  for (let turn = 0; turn < TURNS_PER_HISTORY; turn += 1) {
    const rows = await readRows(payments);
    const nowMs = await environment.currentTimeMs();
    await clock.advanceWhile(Promise.all(payments.map((payment) => act(payment, nowMs, rowOf(rows, payment)))));
    await waitUntilIdle(payments);
    if (random.chance(0.4)) await advance(payments, random.pick(SKIPS_MS));
  }
  await finishAll(payments);
}

function newPayment(): ModelledPayment {
  const provider = random.chance(0.8) ? 'gopay' : 'shopeepay';
  const isManual = random.chance(0.25);
  const terms = ledger.newTerms({
    provider,
    settlementKind: isManual ? 'manual' : 'automatic',
    settlementDelaySeconds: (2 * DAY_MS) / SECOND_MS,
  });
  const { referenceId } = terms;
  const behaviour = acquirer.behaviourOf(referenceId);
  const model = new ReferenceModel({
    provider,
    isManual,
    totalRupiah: terms.totalRupiah,
    rejectsRefunds: () => behaviour.rejectsRefunds,
    order: () => acquirer.orders.get(referenceId) ?? null,
  });
  return { terms, model, trace: [], polledUntilMs: 0 };
}

/** Creates the payment: sometimes after a lost message, sometimes the acquirer rejects the order. */
async function open({ terms, model, trace }: ModelledPayment): Promise<void> {
  const behaviour = acquirer.behaviourOf(terms.referenceId);
  behaviour.rejectsOrder = random.chance(0.05);
  const lost = random.chance(0.3) ? lose(terms, 'issue') : '';
  trace.push(`created${lost}${crashWorkers(terms)}`);
  counts.messages += 1;
  await create(terms);
  model.opened(behaviour.rejectsOrder ? 'rejected' : 'issued');
}

/** As a merchant: repeats the request until there is a response. */
async function create(terms: PaymentTerms, attemptsLeft = 5): Promise<void> {
  await workflows.createPayment(terms).catch((error: unknown) => {
    if (attemptsLeft === 0) throw error;
    return create(terms, attemptsLeft - 1);
  });
}

async function act(payment: ModelledPayment, nowMs: number, row: Row): Promise<void> {
  const { terms, model, trace } = payment;
  if (clock.nextTimerMsOf(paymentWorkflowId(terms.paymentId)) < nowMs + NEAR_MS) return;
  const message = random.pick(MESSAGES.filter((message) => isPossible(payment, message, nowMs)));
  const behaviour = acquirer.behaviourOf(terms.referenceId);
  behaviour.rejectsRefunds = random.chance(0.4);
  behaviour.confirmsRefundsAfter = random.pick([0, 0, 2]);
  for (const losses of Object.values(behaviour.losses)) losses.length = 0;
  // Without a response the workflow rejects these actions of an operator; the model has no such history.
  const needsResponse = message === 'retryRefund' || message === 'resolveRefundAsPaid' || message === 'fail';
  const lost = !needsResponse && random.chance(0.3) ? lose(terms, random.pick(['find', 'close', 'refund'])) : '';
  const crashed = crashWorkers(terms);
  const before = model.status;
  applyAtAcquirer(terms.referenceId, message);
  const expected = model.receive(message, nowMs, row);
  if (model.status === 'pending') payment.polledUntilMs = nowMs + POLLING_MS;
  const result = await send(terms.paymentId, message).catch(async (cause: unknown) => {
    throw new Error(
      `${message}${lost}${crashed} has no response\n${describePayment(payment)}\n${await lastEventsOf(payment)}`,
      { cause },
    );
  });
  counts.messages += 1;
  trace.push(`${before}: ${message}${lost}${crashed} → ${result ?? 'notified'}, ${model.status}`);
  if (result !== expected)
    throw new Error(`${message} had the result ${result}, not ${expected}\n${describePayment(payment)}`);
}

function isPossible({ model, polledUntilMs }: ModelledPayment, message: Message, nowMs: number): boolean {
  switch (message) {
    case 'pay':
    case 'denyManually':
    case 'cancelManually':
      return model.status === 'pending' && model.canPay;
    case 'payWithoutNotification':
      return model.status === 'pending' && model.canPay && nowMs > polledUntilMs;
    case 'changeAmount':
    case 'removeOrder':
      // While the workflow polls the provider, both results are possible.
      return model.status === 'pending' && model.canPay && nowMs > polledUntilMs && random.chance(0.3);
    case 'refundManually':
      return (
        model.status === 'paid' ||
        (model.status === 'refund_failed' && random.chance(0.3)) ||
        (model.status === 'pending' && model.isPaidAtAcquirer)
      );
    default:
      return true;
  }
}

function applyAtAcquirer(referenceId: string, message: Message): void {
  if (message === 'pay' || message === 'payWithoutNotification') acquirer.pay(referenceId);
  if (message === 'denyManually') acquirer.closeManually(referenceId, 'denied');
  if (message === 'cancelManually') acquirer.closeManually(referenceId, 'cancelled');
  if (message === 'refundManually') acquirer.refundManually(referenceId);
  if (message === 'changeAmount') acquirer.changeAmount(referenceId);
  if (message === 'removeOrder') acquirer.removeOrder(referenceId);
}

const OPERATOR: StepActor = { name: 'operator:dewi', note: 'model' };

async function send(paymentId: string, message: Message): Promise<ModelResult | null> {
  switch (message) {
    case 'payWithoutNotification':
    case 'changeAmount':
    case 'removeOrder':
      return null;
    case 'pay':
    case 'notify':
    case 'denyManually':
    case 'cancelManually':
    case 'refundManually':
      await notifyWorkflow(ledger.db, workflows, paymentId);
      return null;
    default:
      return toModelResult(await workflows.request({ id: paymentId }, message, actorOf(message)));
  }
}

function actorOf(action: PaymentAction): StepActor {
  const { requestedBy }: ActionDefinition = PAYMENT_ACTIONS[action];
  return requestedBy.includes('merchant') ? MERCHANT : OPERATOR;
}

function toModelResult({ outcome }: RequestOutcome): ModelResult {
  return outcome === 'done' ? 'done' : 'rejected';
}

/** @returns what is lost, for the trace */
function lose({ referenceId }: PaymentTerms, operation: FakeOperation): string {
  const losses = Array.from({ length: random.between(1, 2) }, () => random.pick<Loss>(['request', 'response']));
  acquirer.behaviourOf(referenceId).losses[operation].push(...losses);
  return ` (lost: ${losses.map((loss) => `${operation} ${loss}`).join(', ')})`;
}

/** @returns how many of its next steps lose their worker, for the trace */
function crashWorkers({ referenceId }: PaymentTerms): string {
  const count = random.chance(0.2) ? random.between(1, 2) : 0;
  workerCrashes.set(referenceId, count);
  return count === 0 ? '' : ` (workers lost: ${count})`;
}

/** Time passes without messages. */
async function advance(payments: readonly ModelledPayment[], ms: number): Promise<void> {
  for (const payment of payments) {
    if (payment.model.isFinal) continue;
    counts.timePassed += 1;
    payment.trace.push(`${ms / SECOND_MS} s pass`);
  }
  await clock.advance(ms);
  await waitUntilIdle(payments);
}

/** Waits until each payment has the status of its model, after as many steps. */
async function waitUntilIdle(payments: readonly ModelledPayment[]): Promise<void> {
  const deadlineAtMs = Date.now() + IDLE_TIMEOUT_MS;
  for (;;) {
    await clock.waitUntilIdle().catch(async (cause: unknown) => {
      throw new Error(
        `The workflows do not become idle\n${(await Promise.all(payments.map(lastEventsOf))).join('\n\n')}`,
        { cause },
      );
    });
    const [rows, nowMs] = [await readRows(payments), await environment.currentTimeMs()];
    for (const payment of payments) payment.model.advance(nowMs, rowOf(rows, payment));
    const diverged = payments.find((payment) => !isAt(payment, rowOf(rows, payment)));
    if (!diverged) return;
    if (Date.now() > deadlineAtMs) {
      const { status, version } = rowOf(rows, diverged);
      const events = await lastEventsOf(diverged);
      throw new Error(`The payment is ${status}, version ${version}\n${describePayment(diverged)}\n${events}`);
    }
    await clock.advanceToNextTimer();
  }
}

async function lastEventsOf({ terms }: ModelledPayment): Promise<string> {
  const workflow = environment.client.workflow.getHandle(paymentWorkflowId(terms.paymentId));
  const [{ events }, report] = [await workflow.fetchHistory(), await workflows.queryStatus(terms.paymentId)];
  const last = (events ?? []).slice(-16).map((event) => Object.keys(event).find((key) => key.endsWith('Attributes')));
  return `${last.join('\n')}\n${JSON.stringify(report)}`;
}

function isAt({ model }: ModelledPayment, { status, version }: Row): boolean {
  return status === model.status && version === model.steps.length;
}

async function readRows(payments: readonly ModelledPayment[]): Promise<Map<string, Row>> {
  const { rows } = await ledger.db.query<Row>({
    name: 'model_rows',
    text: `select payments.id, payments.status, payments.version,
        (extract(epoch from expires_at) * 1000)::bigint as "expiresAtMs",
        (extract(epoch from settlement_due_at) * 1000)::bigint as "settlesAtMs",
        (extract(epoch from refund.submit_at) * 1000)::bigint as "submitAtMs"
      from payments
      left join lateral (
        select submit_at from refunds where payment_id = payments.id order by number desc limit 1
      ) refund on true
      where payments.id = any ($1)`,
    values: [payments.map(({ terms }) => terms.paymentId)],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

function rowOf(rows: ReadonlyMap<string, Row>, { terms }: ModelledPayment): Row {
  const row = rows.get(terms.paymentId);
  if (!row) throw new Error(`There is no payment ${terms.paymentId}`);
  return row;
}

/** Brings each payment to a final status, then compares acquirer, ledger and model. */
async function finishAll(payments: readonly ModelledPayment[]): Promise<void> {
  await finish(payments, 'fail', ({ model }) => model.isUnknownToProvider);
  for (let days = 0; days < 3; days += 1) await advance(payments, 2 * DAY_MS);
  await finish(payments, 'resolveRefundAsPaid', ({ model }) => model.status === 'refund_failed');
  await finish(payments, 'settle', ({ model }) => model.status === 'paid');
  // Whatever the acquirer reports, each payment is final.
  expect(payments.filter(({ model }) => !model.isFinal).map(describePayment)).toEqual([]);
  await payLate(payments);
  await expectAgreement(payments);
}

/** An operator performs an action that no rule performs. */
async function finish(
  payments: readonly ModelledPayment[],
  message: Message,
  isWaiting: (payment: ModelledPayment) => boolean,
): Promise<void> {
  const [rows, nowMs] = [await readRows(payments), await environment.currentTimeMs()];
  const waiting = payments.filter(isWaiting);
  for (const { terms } of waiting)
    for (const losses of Object.values(acquirer.behaviourOf(terms.referenceId).losses)) losses.length = 0;
  for (const payment of waiting) payment.model.receive(message, nowMs, rowOf(rows, payment));
  const results = await clock.advanceWhile(Promise.all(waiting.map(({ terms }) => send(terms.paymentId, message))));
  expect(results.filter((result) => result !== 'done')).toEqual([]);
  await waitUntilIdle(payments);
}

/** Some customers pay a final payment: the late payment is refunded, or requires manual review. */
async function payLate(payments: readonly ModelledPayment[]): Promise<void> {
  const unpaid = payments.filter(({ model }) => model.status === 'expired' || model.status === 'cancelled');
  const late = unpaid.filter(() => random.chance(0.5));
  workflowIds = late.map(({ terms }) => latePaymentWorkflowId(terms.paymentId));
  for (const { terms } of late) {
    const behaviour = acquirer.behaviourOf(terms.referenceId);
    behaviour.rejectsRefunds = false;
    acquirer.pay(terms.referenceId);
    lose(terms, random.pick(['find', 'refund']));
    crashWorkers(terms);
    counts.messages += 1;
    await scheduleStatusQuery(ledger.db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
    await notifyWorkflow(ledger.db, workflows, terms.paymentId);
  }
  const deadlineAtMs = Date.now() + IDLE_TIMEOUT_MS;
  for (;;) {
    const { rows } = await ledger.db.query<{ id: string; late: string }>(
      `select payment_id as id, status as late from late_payments where status in ('refunded', 'manual_review')
         and payment_id = any ($1)`,
      [late.map(({ terms }) => terms.paymentId)],
    );
    if (rows.length === late.length) {
      const statuses = new Map(rows.map((row) => [row.id, row.late]));
      for (const { terms } of late) {
        const isRefundable =
          terms.provider === 'gopay' && acquirer.orders.get(terms.referenceId)?.totalRupiah === terms.totalRupiah;
        expect(statuses.get(terms.paymentId)).toBe(isRefundable ? 'refunded' : 'manual_review');
      }
      return;
    }
    if (Date.now() > deadlineAtMs) throw new Error(`${late.length - rows.length} late payments are still open`);
    await clock.advanceToNextTimer();
  }
}

const AT_ACQUIRER: Readonly<Record<string, readonly (string | undefined)[]>> = {
  settled: ['paid'],
  refunded: ['refunded'],
  expired: ['expired', 'paid', 'refunded'],
  cancelled: ['cancelled', 'paid', 'refunded'],
  // If it was paid over another amount, the money is a late payment.
  failed: ['denied', undefined, 'paid', 'refunded'],
};

async function expectAgreement(payments: readonly ModelledPayment[]): Promise<void> {
  const { rows } = await ledger.db.query<{ id: string; steps: string[] }>(
    `select payment_id as id, array_agg(name order by version) as steps from payment_transitions
     where payment_id = any ($1) group by payment_id`,
    [payments.map(({ terms }) => terms.paymentId)],
  );
  const steps = new Map(rows.map((row) => [row.id, row.steps]));
  for (const payment of payments) {
    const { terms, model } = payment;
    const order = acquirer.orders.get(terms.referenceId);
    expect({ trace: describePayment(payment), steps: steps.get(terms.paymentId) }).toEqual({
      trace: describePayment(payment),
      steps: model.steps,
    });
    if (!model.isManuallyRefunded) expect(AT_ACQUIRER[model.status]).toContain(order?.status);
    expect(order?.charges ?? 1).toBe(1);
    expect(order?.refunds.length ?? 0).toBeLessThanOrEqual(1);
  }
}

function describePayment({ terms, model, trace }: ModelledPayment): string {
  const status = `now ${model.status} (${model.steps.join(', ')})`;
  return [`${terms.provider}, ${terms.settlementKind}, ${status}`, ...trace].join('\n  ');
}
