import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FINAL_STATUSES } from '../../src/domain/payment-transitions';
import { paymentIn, paymentsIn, type Journal, type ReturnedPayment } from './journal';

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

/** The acquirer rejected the order. */
export class CreationRejected extends Error {}

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

  waitForFinal(payment: ReturnedPayment): Promise<string> {
    return this.waitForStatus(payment, FINAL_STATUSES);
  }

  /** @returns the status that it has then */
  async waitForStatus({ id }: ReturnedPayment, statuses: readonly string[]): Promise<string> {
    for (;;) {
      const { status, text } = await this.#call('GET', `/payments/${id}`);
      const found = status === 200 ? paymentIn(text).status : null;
      if (found !== null && statuses.includes(found)) return found;
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
