import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { createActivities, type Activities } from '../../activities';
import { noteNews } from '../../src/db/notifications';
import { PaymentsEngine, type RequestOutcome } from '../../src/engine/payments-engine';
import { tellNews } from '../../src/engine/tell-news';
import { verifyLedger } from '../../src/operator/verify-ledger';
import type { PaymentTerms } from '../../src/domain/payment';
import type { PaymentStep } from '../../src/domain/payment-step';
import { latePaymentWorkflowId, PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../workflows/messages';
import { Random } from '../faults/random';
import { activityDependencies } from '../support/activity-dependencies';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../support/engine';
import { openLedger, type Ledgered } from '../support/payments';
import { Timekeeper } from '../support/timekeeper';
import { PretendAcquirer, type Loss, type Operation } from './model/pretend-acquirer';
import { MESSAGES, ReferenceModel, type Answer, type Deadlines, type Message } from './model/reference-model';

/** `MODEL_SEED=n MODEL_STEPS=n npx jest test/workflows/model` has other histories, and more of them. */
const SEED = Number(process.env.MODEL_SEED ?? 20_261_121);
const STEPS = Number(process.env.MODEL_STEPS ?? 5_000);
const LIVES_AT_ONCE = 30;
const ROUNDS = 16;

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
 * Who does something by itself so soon is left alone: either may be right. And this server strands a workflow whose task cancels a
 * timer that fires meanwhile (temporalio/sdk-java#3088).
 */
const NEAR_MS = 5 * SECOND_MS;
/** A question that was answered "pending" is asked again for this long. */
const ASKS_FOR_MS = 2 * MINUTE_MS;
const AT_REST_WITHIN_MS = 120_000;

let environment: TestWorkflowEnvironment;
let time: Timekeeper;
/** Of those who live by now. */
let workflowIds: readonly string[] = [];
let ledger: Ledgered;
let engine: PaymentsEngine;
let worker: Worker;
let running: Promise<void>;
const acquirer = new PretendAcquirer();
/** For each order: so many of its next steps lose their worker. */
const workersToDie = new Map<string, number>();
const random = new Random(SEED);
const counts = { messages: 0, timePassed: 0, lives: 0 };

interface Life {
  readonly terms: PaymentTerms;
  readonly model: ReferenceModel;
  /** What happened, for whoever has to understand a failure. */
  readonly story: string[];
  askedUntilMs: number;
}

interface Row extends Deadlines {
  readonly id: string;
  readonly status: string;
  readonly version: number;
}

beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
  time = new Timekeeper(environment, async () => workflowIds);
  ledger = await openLedger();
  engine = new PaymentsEngine(environment.client);
  worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: losingWorkers(createActivities(activityDependencies(ledger.context, acquirer))),
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

/** Worker after worker dies when its step is in PostgreSQL and Temporal has not heard of it: the step is taken again. */
function losingWorkers(activities: Activities): object {
  const losing = Object.entries(activities).map(([name, activity]) => [
    name,
    async (request: Pick<PaymentStep, 'terms'>) => {
      const result: unknown = await Reflect.apply(activity, undefined, [request]);
      const { referenceId } = request.terms;
      const dying = workersToDie.get(referenceId) ?? 0;
      workersToDie.set(referenceId, Math.max(dying - 1, 0));
      if (dying > 0) throw new Error('the worker died');
      return result;
    },
  ]);
  return Object.fromEntries(losing);
}

describe('random histories', () => {
  it(
    `of ${STEPS} messages and moments go as the table of transitions says (seed ${SEED})`,
    async () => {
      while (counts.messages + counts.timePassed < STEPS) {
        await liveThrough();
        if (process.env.MODEL_STEPS) process.stderr.write(`${JSON.stringify(counts)}\n`);
      }
      const { breakCount, breaks } = await verifyLedger(ledger.db);
      expect(breaks).toEqual([]);
      expect(breakCount).toBe(0);
    },
    Math.max(1_800_000, STEPS * 60),
  );
});

/** Some lives side by side, from their creation to their end. */
async function liveThrough(): Promise<void> {
  const lives = Array.from({ length: LIVES_AT_ONCE }, newLife);
  counts.lives += lives.length;
  workflowIds = lives.map(({ terms }) => paymentWorkflowId(terms.paymentId));
  await time.during(Promise.all(lives.map(open)));
  await comeToRest(lives);
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = await readRows(lives);
    const nowMs = await environment.currentTimeMs();
    await time.during(Promise.all(lives.map((life) => act(life, nowMs, rowOf(rows, life)))));
    await comeToRest(lives);
    if (random.chance(0.4)) await pass(lives, random.pick(SKIPS_MS));
  }
  await end(lives);
}

function newLife(): Life {
  const provider = random.chance(0.8) ? 'gopay' : 'shopeepay';
  const isManual = random.chance(0.25);
  const terms = ledger.newTerms({
    provider,
    settlementKind: isManual ? 'manual' : 'automatic',
    settlementDelaySeconds: (2 * DAY_MS) / SECOND_MS,
  });
  const { referenceId } = terms;
  const manner = acquirer.mannerOf(referenceId);
  const model = new ReferenceModel({
    provider,
    isManual,
    totalRupiah: terms.totalRupiah,
    refusesRefunds: () => manner.refusesRefunds,
    order: () => acquirer.orders.get(referenceId) ?? null,
  });
  return { terms, model, story: [], askedUntilMs: 0 };
}

/** Created: mostly well, sometimes after a lost message, sometimes refused. */
async function open({ terms, model, story }: Life): Promise<void> {
  const manner = acquirer.mannerOf(terms.referenceId);
  manner.refusesOrder = random.chance(0.05);
  const lost = random.chance(0.3) ? lose(terms, 'issue') : '';
  story.push(`created${lost}${loseWorkers(terms)}`);
  counts.messages += 1;
  await create(terms);
  model.opened(manner.refusesOrder ? 'rejected' : 'issued');
}

/** As a merchant does: the same request again while there is no answer. */
async function create(terms: PaymentTerms, triesLeft = 5): Promise<void> {
  await engine.createPayment(terms).catch((error: unknown) => {
    if (triesLeft === 0) throw error;
    return create(terms, triesLeft - 1);
  });
}

async function act(life: Life, nowMs: number, row: Row): Promise<void> {
  const { terms, model, story } = life;
  if (time.nextTimerMsOf(paymentWorkflowId(terms.paymentId)) < nowMs + NEAR_MS) return;
  const message = random.pick(MESSAGES.filter((message) => isPossible(life, message, nowMs)));
  const manner = acquirer.mannerOf(terms.referenceId);
  manner.refusesRefunds = random.chance(0.4);
  manner.confirmsRefundsAfter = random.pick([0, 0, 2]);
  for (const losses of Object.values(manner.losses)) losses.length = 0;
  // An operator's step that needs a clear answer is refused without one, which is another history.
  const isClear = message === 'retryRefund' || message === 'resolveAsPaid' || message === 'fail';
  const lost = !isClear && random.chance(0.3) ? lose(terms, random.pick(['find', 'end', 'refund'])) : '';
  const died = loseWorkers(terms);
  const before = model.status;
  happenAtAcquirer(terms.referenceId, message);
  const expected = model.receive(message, nowMs, row);
  if (model.status === 'pending') life.askedUntilMs = nowMs + ASKS_FOR_MS;
  const answer = await send(terms.paymentId, message).catch(async (cause: unknown) => {
    throw new Error(`${message}${lost}${died} has no answer\n${tell(life)}\n${await lastEventsOf(life)}`, { cause });
  });
  counts.messages += 1;
  story.push(`${before}: ${message}${lost}${died} → ${answer ?? 'told'}, ${model.status}`);
  if (answer !== expected) throw new Error(`${message} was answered ${answer}, not ${expected}\n${tell(life)}`);
}

function isPossible({ model, askedUntilMs }: Life, message: Message, nowMs: number): boolean {
  switch (message) {
    case 'pay':
    case 'denyByHand':
    case 'cancelByHand':
      return model.status === 'pending' && model.canPay;
    case 'payInSilence':
      return model.status === 'pending' && model.canPay && nowMs > askedUntilMs;
    case 'changeAmount':
    case 'forgetOrder':
      // A payment that was asked after is being asked after again for a while.
      return model.status === 'pending' && model.canPay && nowMs > askedUntilMs && random.chance(0.3);
    case 'refundByHand':
      return (
        model.status === 'paid' ||
        (model.status === 'refund_failed' && random.chance(0.3)) ||
        (model.status === 'pending' && model.isPaidAtAcquirer)
      );
    default:
      return true;
  }
}

function happenAtAcquirer(referenceId: string, message: Message): void {
  if (message === 'pay' || message === 'payInSilence') acquirer.pay(referenceId);
  if (message === 'denyByHand') acquirer.endByHand(referenceId, 'denied');
  if (message === 'cancelByHand') acquirer.endByHand(referenceId, 'cancelled');
  if (message === 'refundByHand') acquirer.refundByHand(referenceId);
  if (message === 'changeAmount') acquirer.changeAmount(referenceId);
  if (message === 'forgetOrder') acquirer.forgetOrder(referenceId);
}

const OPERATOR = { actor: 'dewi', note: 'model' };

async function send(paymentId: string, message: Message): Promise<Answer | null> {
  switch (message) {
    case 'payInSilence':
    case 'changeAmount':
    case 'forgetOrder':
      return null;
    case 'fail':
      return answerOf(await engine.failPayment(paymentId, OPERATOR));
    case 'pay':
    case 'notify':
    case 'denyByHand':
    case 'cancelByHand':
    case 'refundByHand':
      await tellNews(ledger.db, engine, paymentId);
      return null;
    case 'cancel':
      return answerOf(await engine.cancelPayment(paymentId));
    case 'refund':
      return answerOf(await engine.refundPayment(paymentId));
    case 'settle':
      return answerOf(await engine.settlePayment(paymentId, OPERATOR));
    case 'retryRefund':
      return answerOf(await engine.retryRefund(paymentId, OPERATOR));
    case 'resolveAsPaid':
      return answerOf(await engine.resolveRefund(paymentId, OPERATOR, 'paid'));
    case 'resolveAsRefunded':
      return answerOf(await engine.resolveRefund(paymentId, OPERATOR, 'refunded'));
  }
}

function answerOf({ outcome }: RequestOutcome): Answer {
  return outcome === 'done' ? 'done' : 'refused';
}

/** @returns what is lost, for the story */
function lose({ referenceId }: PaymentTerms, operation: Operation): string {
  const losses = Array.from({ length: random.between(1, 2) }, () => random.pick<Loss>(['request', 'answer']));
  acquirer.mannerOf(referenceId).losses[operation].push(...losses);
  return ` (lost: ${losses.map((loss) => `${operation} ${loss}`).join(', ')})`;
}

/** @returns how many of its next steps lose their worker, for the story */
function loseWorkers({ referenceId }: PaymentTerms): string {
  const count = random.chance(0.2) ? random.between(1, 2) : 0;
  workersToDie.set(referenceId, count);
  return count === 0 ? '' : ` (workers lost: ${count})`;
}

/** Nobody does anything for a while. */
async function pass(lives: readonly Life[], ms: number): Promise<void> {
  for (const life of lives) {
    if (life.model.isFinal) continue;
    counts.timePassed += 1;
    life.story.push(`${ms / SECOND_MS} s pass`);
  }
  await time.pass(ms);
  await comeToRest(lives);
}

/** Waits until each payment stands where its model does, by as many steps. */
async function comeToRest(lives: readonly Life[]): Promise<void> {
  const deadline = Date.now() + AT_REST_WITHIN_MS;
  for (;;) {
    await time.rest().catch(async (cause: unknown) => {
      throw new Error(`No rest\n${(await Promise.all(lives.map(lastEventsOf))).join('\n\n')}`, { cause });
    });
    const [rows, nowMs] = [await readRows(lives), await environment.currentTimeMs()];
    for (const life of lives) life.model.advance(nowMs, rowOf(rows, life));
    const elsewhere = lives.find((life) => !isAt(life, rowOf(rows, life)));
    if (!elsewhere) return;
    if (Date.now() > deadline) {
      const { status, version } = rowOf(rows, elsewhere);
      const events = await lastEventsOf(elsewhere);
      throw new Error(`The payment is ${status}, version ${version}\n${tell(elsewhere)}\n${events}`);
    }
    await time.passToNextTimer();
  }
}

async function lastEventsOf({ terms }: Life): Promise<string> {
  const workflow = environment.client.workflow.getHandle(paymentWorkflowId(terms.paymentId));
  const [{ events }, report] = [await workflow.fetchHistory(), await engine.askStatus(terms.paymentId)];
  const last = (events ?? []).slice(-16).map((event) => Object.keys(event).find((key) => key.endsWith('Attributes')));
  return `${last.join('\n')}\n${JSON.stringify(report)}`;
}

function isAt({ model }: Life, { status, version }: Row): boolean {
  return status === model.status && version === model.steps.length;
}

async function readRows(lives: readonly Life[]): Promise<Map<string, Row>> {
  const { rows } = await ledger.db.query<Row>({
    name: 'model_rows',
    text: `select payments.id, payments.status, payments.version,
        (extract(epoch from expires_at) * 1000)::bigint as "expiresAtMs",
        (extract(epoch from settlement_due_at) * 1000)::bigint as "settlesAtMs",
        (extract(epoch from refund.submit_at) * 1000)::bigint as "submitAtMs"
      from payments
      left join lateral (select submit_at from refunds where payment_id = payments.id order by round desc limit 1) refund on true
      where payments.id = any ($1)`,
    values: [lives.map(({ terms }) => terms.paymentId)],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

function rowOf(rows: ReadonlyMap<string, Row>, { terms }: Life): Row {
  const row = rows.get(terms.paymentId);
  if (!row) throw new Error(`There is no payment ${terms.paymentId}`);
  return row;
}

/** Everybody does what is left to do; then provider, books and model agree on every life. */
async function end(lives: readonly Life[]): Promise<void> {
  await finish(lives, 'fail', ({ model }) => model.isForgotten);
  for (let days = 0; days < 3; days += 1) await pass(lives, 2 * DAY_MS);
  await finish(lives, 'resolveAsPaid', ({ model }) => model.status === 'refund_failed');
  await finish(lives, 'settle', ({ model }) => model.status === 'paid');
  // Whatever the acquirer reports, each of them has come to an end.
  expect(lives.filter(({ model }) => !model.isFinal).map(tell)).toEqual([]);
  await payLate(lives);
  await expectTruth(lives);
}

/** An operator ends what only an operator can end. */
async function finish(lives: readonly Life[], message: Message, isWaiting: (life: Life) => boolean): Promise<void> {
  const [rows, nowMs] = [await readRows(lives), await environment.currentTimeMs()];
  const waiting = lives.filter(isWaiting);
  for (const { terms } of waiting)
    for (const losses of Object.values(acquirer.mannerOf(terms.referenceId).losses)) losses.length = 0;
  for (const life of waiting) life.model.receive(message, nowMs, rowOf(rows, life));
  const answers = await time.during(Promise.all(waiting.map(({ terms }) => send(terms.paymentId, message))));
  expect(answers.filter((answer) => answer !== 'done')).toEqual([]);
  await comeToRest(lives);
}

/** Some customers pay what has ended: they get it back, or a person sees to it. */
async function payLate(lives: readonly Life[]): Promise<void> {
  const ended = lives.filter(({ model }) => model.status === 'expired' || model.status === 'cancelled');
  const late = ended.filter(() => random.chance(0.5));
  workflowIds = late.map(({ terms }) => latePaymentWorkflowId(terms.paymentId));
  for (const { terms } of late) {
    const manner = acquirer.mannerOf(terms.referenceId);
    manner.refusesRefunds = false;
    acquirer.pay(terms.referenceId);
    lose(terms, random.pick(['find', 'refund']));
    loseWorkers(terms);
    counts.messages += 1;
    await noteNews(ledger.db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
    await tellNews(ledger.db, engine, terms.paymentId);
  }
  const deadline = Date.now() + AT_REST_WITHIN_MS;
  for (;;) {
    const { rows } = await ledger.db.query<{ id: string; late: string }>(
      `select payment_id as id, status as late from late_payments where status in ('refunded', 'kept')
         and payment_id = any ($1)`,
      [late.map(({ terms }) => terms.paymentId)],
    );
    if (rows.length === late.length) {
      const statuses = new Map(rows.map((row) => [row.id, row.late]));
      for (const { terms } of late) {
        const isRefundable =
          terms.provider === 'gopay' && acquirer.orders.get(terms.referenceId)?.totalRupiah === terms.totalRupiah;
        expect(statuses.get(terms.paymentId)).toBe(isRefundable ? 'refunded' : 'kept');
      }
      return;
    }
    if (Date.now() > deadline) throw new Error(`${late.length - rows.length} late payments are not dealt with`);
    await time.passToNextTimer();
  }
}

const AT_ACQUIRER: Readonly<Record<string, readonly (string | undefined)[]>> = {
  settled: ['paid'],
  refunded: ['refunded'],
  expired: ['expired', 'paid', 'refunded'],
  cancelled: ['cancelled', 'paid', 'refunded'],
  // Paid over another amount, it has failed, and the money is late.
  failed: ['denied', undefined, 'paid', 'refunded'],
};

async function expectTruth(lives: readonly Life[]): Promise<void> {
  const { rows } = await ledger.db.query<{ id: string; steps: string[] }>(
    `select payment_id as id, array_agg(name order by version) as steps from payment_transitions
     where payment_id = any ($1) group by payment_id`,
    [lives.map(({ terms }) => terms.paymentId)],
  );
  const steps = new Map(rows.map((row) => [row.id, row.steps]));
  for (const life of lives) {
    const { terms, model } = life;
    const order = acquirer.orders.get(terms.referenceId);
    expect({ story: tell(life), steps: steps.get(terms.paymentId) }).toEqual({ story: tell(life), steps: model.steps });
    if (!model.isRefundedByWord) expect(AT_ACQUIRER[model.status]).toContain(order?.status);
    expect(order?.charges ?? 1).toBe(1);
    expect(order?.refunds.length ?? 0).toBeLessThanOrEqual(1);
  }
}

function tell({ terms, model, story }: Life): string {
  return `${terms.provider}, ${terms.settlementKind}, by now ${model.status} (${model.steps.join(', ')})\n  ${story.join('\n  ')}`;
}
