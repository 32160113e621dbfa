import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Journal, paymentIn, paymentsIn, type AnsweredPayment } from './journal';
import type { Random } from './random';

export interface LoadTarget {
  readonly apiUrl: string;
  readonly sandbox: { readonly url: string };
  readonly secretKey: string;
}

const FINAL = ['settled', 'refunded', 'cancelled', 'expired', 'failed'];
/** Longer than the service gives itself. */
const CALL_DEADLINE_MS = 12_000;
const POLL_MS = 250;
const AGAIN_AFTER_MS = 400;
/** A life is given up after this; what it left is judged all the same. */
const LONGEST_LIFE_MS = 180_000;
/** Between the lives of a customer. */
const LONGEST_PAUSE_MS = 600;

/** The kinds of lives, told by merchant and customer. */
const LIVES = {
  async settle(life: Life) {
    const payment = await life.create();
    await life.pay(payment);
    await life.ends(payment);
  },
  async refund(life: Life) {
    const payment = await life.create();
    await life.pay(payment);
    await life.reaches(payment, ['paid', ...FINAL]);
    await life.ask(payment, 'refund');
    await life.ends(payment);
  },
  async refundTakenBack(life: Life) {
    const payment = await life.create();
    await life.pay(payment);
    await life.reaches(payment, ['paid', ...FINAL]);
    await life.ask(payment, 'refund');
    await life.ask(payment, 'cancel');
    await life.ends(payment);
  },
  async cancel(life: Life) {
    const payment = await life.create();
    await life.ask(payment, 'cancel');
    await life.ends(payment);
  },
  async cancelAgainstPaid(life: Life) {
    const payment = await life.create();
    await Promise.all([life.pay(payment), life.ask(payment, 'cancel')]);
    await life.ends(payment);
  },
  async refundAgainstSettled(life: Life) {
    const payment = await life.create();
    await life.pay(payment);
    await Promise.all([life.ask(payment, 'refund'), life.ask(payment, 'refund'), life.ask(payment, 'cancel')]);
    await life.ends(payment);
  },
  async expire(life: Life) {
    await life.ends(await life.create('shopeepay'));
  },
  async paidInSilence(life: Life) {
    const payment = await life.create('shopeepay');
    await life.pay(payment, { notify: false });
    await life.ends(payment);
  },
  async paidLate(life: Life) {
    const payment = await life.create();
    await life.ask(payment, 'cancel');
    await life.reaches(payment, FINAL);
    await life.pay(payment, { times: 3 });
  },
  async paidAfterExpiry(life: Life) {
    const payment = await life.create('shopeepay');
    await life.reaches(payment, FINAL);
    await life.pay(payment);
  },
  async repeated(life: Life) {
    const [payment] = await Promise.all([life.create(), life.create(), life.create()]);
    await life.pay(payment, { times: 5 });
    await life.ends(payment);
    await life.create();
  },
  async bulk(life: Life) {
    const payments = await life.createBulk(4);
    for (const payment of payments) await life.pay(payment);
    for (const payment of payments) await life.ends(payment);
  },
} as const satisfies Record<string, (life: Life) => Promise<void>>;

export type LifeKind = keyof typeof LIVES;
const KINDS = Object.keys(LIVES).filter((name): name is LifeKind => name in LIVES);

/** Merchants and customers who keep at it: what fails is tried again, under the same key, until it has an answer. */
export class Load {
  readonly unfinished: string[] = [];
  lives = 0;
  readonly #underWay = new Set<Promise<void>>();
  readonly #abandoned = new AbortController();
  #isStopping = false;

  constructor(
    private readonly target: LoadTarget,
    private readonly journal: Journal,
    private readonly random: Random,
  ) {}

  /** So many customers begin a life, and another one after it, until `stop`. */
  start(customers: number): void {
    for (let index = 0; index < customers; index += 1) this.#keep(this.#customer());
  }

  /** One more life, of this kind. */
  begin(kind: LifeKind): void {
    this.#keep(this.#live(kind));
  }

  /** A merchant and a customer who do what the harness wants, about an order over this amount. */
  life(amount: number): Life {
    return new Life(this.target, this.journal, amount, this.#abandoned.signal);
  }

  /** Begins nothing new, and resolves when everything that was begun has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#underWay);
  }

  /** Leaves everything that was begun as it is. */
  async abandon(): Promise<void> {
    this.#abandoned.abort();
    await this.stop();
  }

  async #customer(): Promise<void> {
    while (!this.#isStopping) {
      await this.#live(this.random.pick(KINDS));
      await sleep(this.random.between(0, LONGEST_PAUSE_MS));
    }
  }

  async #live(kind: LifeKind): Promise<void> {
    this.lives += 1;
    const life = this.life(this.random.between(1_000, 900_000));
    await LIVES[kind](life).catch((error: unknown) => {
      if (!(error instanceof Refused)) this.unfinished.push(`${kind} ${life.key}: ${String(error)}`);
    });
  }

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#underWay.delete(kept));
    this.#underWay.add(kept);
  }
}

/** The acquirer refused the order: a life that is over before it began. */
class Refused extends Error {}

/** What one merchant and one customer do about one order. */
export class Life {
  readonly key = randomUUID();
  readonly #deadline = Date.now() + LONGEST_LIFE_MS;

  constructor(
    private readonly target: LoadTarget,
    private readonly journal: Journal,
    private readonly amount: number,
    private readonly abandoned: AbortSignal,
  ) {}

  async create(provider = 'gopay'): Promise<AnsweredPayment> {
    return paymentIn(await this.#insistOnCreating({ amount: this.amount, provider }));
  }

  async createBulk(count: number): Promise<AnsweredPayment[]> {
    const payments = Array.from({ length: count }, (_item, index) => ({ amount: this.amount + index }));
    for (;;) {
      const created = paymentsIn(await this.#insistOnCreating({ provider: 'gopay', payments }));
      // One that was still unclear has no QR yet: the same key gets it later.
      if (created.every(({ status }) => status !== 'created')) return created;
      await this.#pause();
    }
  }

  /** A customer pays, in the acquirer's app, which the faults do not reach. */
  async pay({ reference_id }: AnsweredPayment, how: { notify?: boolean; times?: number } = {}): Promise<void> {
    await fetch(`${this.target.sandbox.url}/simulator/payments/${reference_id}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(how),
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    });
  }

  /** Cancels or refunds; a refusal is an answer too. */
  async ask({ id }: AnsweredPayment, what: 'cancel' | 'refund'): Promise<void> {
    await this.#insist(`/payments/${id}/${what}`);
  }

  ends(payment: AnsweredPayment): Promise<void> {
    return this.reaches(payment, FINAL);
  }

  async reaches({ id }: AnsweredPayment, statuses: readonly string[]): Promise<void> {
    for (;;) {
      const { status, text } = await this.#call('GET', `/payments/${id}`);
      if (status === 200 && statuses.includes(paymentIn(text).status)) return;
      await this.#pause(POLL_MS);
    }
  }

  /** @throws Refused when the payment failed at its creation */
  async #insistOnCreating(body: object): Promise<string> {
    const { status, text } = await this.#insist('/payments', body);
    if (status !== 201) throw new Refused(text);
    return text;
  }

  /** The same request again and again until there is an answer that is not "try again". */
  async #insist(path: string, body?: object): Promise<{ status: number; text: string }> {
    for (;;) {
      const { status, text } = await this.#call('POST', path, body);
      if (status !== null && status < 500 && status !== 429) return { status, text };
      await this.#pause();
    }
  }

  async #call(method: string, path: string, body?: object): Promise<{ status: number | null; text: string }> {
    const atMs = Date.now();
    const key = path === '/payments' ? this.key : null;
    const answer = await fetch(this.target.apiUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.target.secretKey}`,
        ...(key !== null && { 'idempotency-key': key }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error: unknown) => ({ status: null, text: String(error) }),
    );
    this.journal.entries.push({ atMs, method, path, key, tookMs: Date.now() - atMs, ...answer });
    return answer;
  }

  async #pause(ms = AGAIN_AFTER_MS): Promise<void> {
    this.abandoned.throwIfAborted();
    if (Date.now() > this.#deadline) throw new Error(`not over after ${LONGEST_LIFE_MS / 1_000} s`);
    await sleep(ms);
  }
}
