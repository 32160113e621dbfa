import { setTimeout as sleep } from 'node:timers/promises';
import { FINAL_STATUSES } from '../../src/domain/payment-transitions';
import type { Journal } from './journal';
import { PayoutScenario, type PayoutTarget } from './payout-scenario';
import { isPayoutKind, PAYOUT_KINDS, PAYOUT_SCENARIOS, type PayoutKind } from './payout-workload';
import type { Random } from './random';
import { CreationRejected, Scenario } from './scenario';

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

type PaymentKind = keyof typeof SCENARIOS;
export type ScenarioKind = PaymentKind | PayoutKind;
const PAYMENT_KINDS = Object.keys(SCENARIOS).filter((name): name is PaymentKind => name in SCENARIOS);

/** The part of the scenarios that are of payouts. */
const PAYOUT_SHARE = 1 / 3;

/** Merchants and customers that repeat each request, with the same key, until it has a response. */
export class Workload {
  readonly unfinished: string[] = [];
  scenarios = 0;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #abandoned = new AbortController();
  #isStopping = false;

  constructor(
    private readonly target: PayoutTarget,
    private readonly journal: Journal,
    private readonly random: Random,
    /** Whether its merchants have payouts too. */
    private readonly hasPayouts = true,
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
      const isPayout = this.hasPayouts && this.random.chance(PAYOUT_SHARE);
      await this.#runScenario(this.random.pick<ScenarioKind>(isPayout ? PAYOUT_KINDS : PAYMENT_KINDS));
      await sleep(this.random.between(0, MAX_PAUSE_MS));
    }
  }

  async #runScenario(kind: ScenarioKind): Promise<void> {
    this.scenarios += 1;
    const { target, journal, random } = this;
    if (isPayoutKind(kind)) {
      const scenario = new PayoutScenario({ target, journal, random, abandoned: this.#abandoned.signal });
      const run = PAYOUT_SCENARIOS[kind](scenario);
      await run.catch((error: unknown) => this.unfinished.push(`${kind} ${scenario.shops}: ${String(error)}`));
      return;
    }
    const scenario = this.scenario(random.between(1_000, 900_000));
    await SCENARIOS[kind](scenario).catch((error: unknown) => {
      if (!(error instanceof CreationRejected)) this.unfinished.push(`${kind} ${scenario.key}: ${String(error)}`);
    });
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }
}
