import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FINAL_STATUSES } from '../../src/domain/payment-transitions';
import { paymentIn, paymentsIn, type Journal, type ReturnedPayment } from './journal';
import type { Random } from './random';

export interface WorkloadTarget {
  readonly apiUrl: string;
  readonly sandbox: { readonly url: string };
  readonly secretKey: string;
}

/** More than the deadline of the service. */
const CALL_TIMEOUT_MS = 12_000;
const POLL_MS = 250;
const AGAIN_AFTER_MS = 400;
/** A scenario fails after this time. Its payments are checked all the same. */
const SCENARIO_TIMEOUT_MS = 180_000;
/** Between the scenarios of a customer. */
const MAX_PAUSE_MS = 600;

const SCENARIOS = {
  async settle(scenario: Scenario) {
    const payment = await scenario.create();
    await scenario.pay(payment);
    await scenario.waitForFinal(payment);
  },
  async refund(scenario: Scenario) {
    const payment = await scenario.create();
    await scenario.pay(payment);
    await scenario.waitForStatus(payment, ['paid', ...FINAL_STATUSES]);
    await scenario.request(payment, 'refund');
    await scenario.waitForFinal(payment);
  },
  async refundCancelled(scenario: Scenario) {
    const payment = await scenario.create();
    await scenario.pay(payment);
    await scenario.waitForStatus(payment, ['paid', ...FINAL_STATUSES]);
    await scenario.request(payment, 'refund');
    await scenario.request(payment, 'cancel');
    await scenario.waitForFinal(payment);
  },
  async cancel(scenario: Scenario) {
    const payment = await scenario.create();
    await scenario.request(payment, 'cancel');
    await scenario.waitForFinal(payment);
  },
  async cancelDuringPayment(scenario: Scenario) {
    const payment = await scenario.create();
    await Promise.all([scenario.pay(payment), scenario.request(payment, 'cancel')]);
    await scenario.waitForFinal(payment);
  },
  async refundDuringSettlement(scenario: Scenario) {
    const payment = await scenario.create();
    await scenario.pay(payment);
    await Promise.all([
      scenario.request(payment, 'refund'),
      scenario.request(payment, 'refund'),
      scenario.request(payment, 'cancel'),
    ]);
    await scenario.waitForFinal(payment);
  },
  async expire(scenario: Scenario) {
    await scenario.waitForFinal(await scenario.create('shopeepay'));
  },
  async paidWithoutNotification(scenario: Scenario) {
    const payment = await scenario.create('shopeepay');
    await scenario.pay(payment, { notify: false });
    await scenario.waitForFinal(payment);
  },
  async paidLate(scenario: Scenario) {
    const payment = await scenario.create();
    await scenario.request(payment, 'cancel');
    await scenario.waitForStatus(payment, FINAL_STATUSES);
    await scenario.pay(payment, { times: 3 });
  },
  async paidAfterExpiry(scenario: Scenario) {
    const payment = await scenario.create('shopeepay');
    await scenario.waitForStatus(payment, FINAL_STATUSES);
    await scenario.pay(payment);
  },
  async repeated(scenario: Scenario) {
    const [payment] = await Promise.all([scenario.create(), scenario.create(), scenario.create()]);
    await scenario.pay(payment, { times: 5 });
    await scenario.waitForFinal(payment);
    await scenario.create();
  },
  async bulk(scenario: Scenario) {
    const payments = await scenario.createBulk(4);
    for (const payment of payments) await scenario.pay(payment);
    for (const payment of payments) await scenario.waitForFinal(payment);
  },
} as const satisfies Record<string, (scenario: Scenario) => Promise<void>>;

export type ScenarioKind = keyof typeof SCENARIOS;
const KINDS = Object.keys(SCENARIOS).filter((name): name is ScenarioKind => name in SCENARIOS);

/** Merchants and customers that repeat each request, with the same key, until it has a response. */
export class Workload {
  readonly unfinished: string[] = [];
  scenarios = 0;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #abandoned = new AbortController();
  #isStopping = false;

  constructor(
    private readonly target: WorkloadTarget,
    private readonly journal: Journal,
    private readonly random: Random,
  ) {}

  /** Each customer runs one scenario after another until `stop`. */
  start(customers: number): void {
    for (let index = 0; index < customers; index += 1) this.#track(this.#customer());
  }

  startScenario(kind: ScenarioKind): void {
    this.#track(this.#runScenario(kind));
  }

  /** A merchant and a customer for an order of this amount, whose steps the harness decides. */
  scenario(amount: number): Scenario {
    return new Scenario(this.target, this.journal, amount, this.#abandoned.signal);
  }

  /** Starts no more scenarios. Resolves when the running ones are complete. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#inFlight);
  }

  /** Stops the running scenarios. */
  async abandon(): Promise<void> {
    this.#abandoned.abort();
    await this.stop();
  }

  async #customer(): Promise<void> {
    while (!this.#isStopping) {
      await this.#runScenario(this.random.pick(KINDS));
      await sleep(this.random.between(0, MAX_PAUSE_MS));
    }
  }

  async #runScenario(kind: ScenarioKind): Promise<void> {
    this.scenarios += 1;
    const scenario = this.scenario(this.random.between(1_000, 900_000));
    await SCENARIOS[kind](scenario).catch((error: unknown) => {
      if (!(error instanceof CreationRejected)) this.unfinished.push(`${kind} ${scenario.key}: ${String(error)}`);
    });
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }
}

/** The acquirer rejected the order. */
class CreationRejected extends Error {}

/** The steps of one merchant and one customer for one order. */
export class Scenario {
  readonly key = randomUUID();
  readonly #deadlineAtMs = Date.now() + SCENARIO_TIMEOUT_MS;

  constructor(
    private readonly target: WorkloadTarget,
    private readonly journal: Journal,
    private readonly amount: number,
    private readonly abandoned: AbortSignal,
  ) {}

  async create(provider = 'gopay'): Promise<ReturnedPayment> {
    return paymentIn(await this.#createUntilCompleted({ amount: this.amount, provider }));
  }

  async createBulk(count: number): Promise<ReturnedPayment[]> {
    const payments = Array.from({ length: count }, (_item, index) => ({ amount: this.amount + index }));
    for (;;) {
      const created = paymentsIn(await this.#createUntilCompleted({ provider: 'gopay', payments }));
      // An indeterminate payment has no QR yet. A request with the same key returns it later.
      if (created.every(({ status }) => status !== 'created')) return created;
      await this.#pause();
    }
  }

  /** A customer pays in the acquirer's app, which has no injected faults. */
  async pay({ reference_id }: ReturnedPayment, how: { notify?: boolean; times?: number } = {}): Promise<void> {
    await fetch(`${this.target.sandbox.url}/simulator/payments/${reference_id}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(how),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
  }

  /** Cancels or refunds. A rejection is a complete response too. */
  async request({ id }: ReturnedPayment, what: 'cancel' | 'refund'): Promise<void> {
    await this.#requestUntilCompleted(`/payments/${id}/${what}`);
  }

  waitForFinal(payment: ReturnedPayment): Promise<void> {
    return this.waitForStatus(payment, FINAL_STATUSES);
  }

  async waitForStatus({ id }: ReturnedPayment, statuses: readonly string[]): Promise<void> {
    for (;;) {
      const { status, text } = await this.#call('GET', `/payments/${id}`);
      if (status === 200 && statuses.includes(paymentIn(text).status)) return;
      await this.#pause(POLL_MS);
    }
  }

  /** @throws CreationRejected if the payment failed at its creation */
  async #createUntilCompleted(body: object): Promise<string> {
    const { status, text } = await this.#requestUntilCompleted('/payments', body);
    if (status !== 201) throw new CreationRejected(text);
    return text;
  }

  /** Repeats the request until its response is neither 5xx nor 429. */
  async #requestUntilCompleted(path: string, body?: object): Promise<{ status: number; text: string }> {
    for (;;) {
      const { status, text } = await this.#call('POST', path, body);
      if (status !== null && status < 500 && status !== 429) return { status, text };
      await this.#pause();
    }
  }

  async #call(method: string, path: string, body?: object): Promise<{ status: number | null; text: string }> {
    const atMs = Date.now();
    const key = path === '/payments' ? this.key : null;
    const result = await fetch(this.target.apiUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.target.secretKey}`,
        ...(key !== null && { 'idempotency-key': key }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error: unknown) => ({ status: null, text: String(error) }),
    );
    this.journal.entries.push({ atMs, method, path, key, tookMs: Date.now() - atMs, ...result });
    return result;
  }

  async #pause(ms = AGAIN_AFTER_MS): Promise<void> {
    this.abandoned.throwIfAborted();
    if (Date.now() > this.#deadlineAtMs) throw new Error(`not over after ${SCENARIO_TIMEOUT_MS / 1_000} s`);
    await sleep(ms);
  }
}
