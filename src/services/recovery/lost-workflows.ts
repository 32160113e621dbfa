import { LRUCache } from 'lru-cache';
import { isFinal, type PaymentStatus } from '../../domain/payment-transitions';
import type { Logger } from '../../observability/logger';
import { paymentIds } from '../../temporal/log-payment';
import { restartIfLost, type RestartDependencies } from './restart-payment';

/** Between two checks of one payment. It doubles with each check that finds the workflow lost again. */
export const CHECK_INTERVAL_MS = 30_000;
const MAX_INTERVAL_MS = 3_600_000;
const MAX_PAYMENTS = 10_000;
/** Temporal is slow or away if there are more: the next view of the page checks again. */
const MAX_IN_FLIGHT = 10;

type LostWorkflowsDependencies = RestartDependencies & { readonly log: Logger };

interface Check {
  readonly notBeforeMs: number;
  /** Checks in a row that found no running workflow. */
  readonly losses: number;
}

/** A payment's own timer and the provider need a moment. */
const EXPIRY_GRACE_MS = 5_000;

interface ExpiringPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly expiresAt: Date;
}

/**
 * Checks whether the open payments that customers look at have a running workflow, and starts a lost one again. The
 * checks run beside the request that causes them, and are bounded: strangers open checkout pages.
 */
export class LostWorkflows {
  readonly #checks = new LRUCache<string, Check>({ max: MAX_PAYMENTS });
  readonly #inFlight = new Set<Promise<void>>();

  /** @param nowMs any clock that only goes forward */
  constructor(
    private readonly dependencies: LostWorkflowsDependencies,
    private readonly nowMs = () => performance.now(),
  ) {}

  /** Returns before the check. A payment is checked at most once in half a minute, and a final one never. */
  check({ id, status }: { readonly id: string; readonly status: PaymentStatus }): void {
    if (isFinal(status) || this.#inFlight.size >= MAX_IN_FLIGHT) return;
    const { notBeforeMs = -Infinity, losses = 0 } = this.#checks.get(id) ?? {};
    if (this.nowMs() < notBeforeMs) return;
    this.#note(id, losses);
    const checking = this.#check(id, losses).finally(() => this.#inFlight.delete(checking));
    this.#inFlight.add(checking);
  }

  /** Checks a payment only if it should have expired: its provider does not respond, or its workflow is lost. */
  checkExpired(payment: ExpiringPayment): void {
    if (payment.status === 'pending' && payment.expiresAt.getTime() + EXPIRY_GRACE_MS < Date.now()) this.check(payment);
  }

  /** Resolves after the checks in flight. */
  async stop(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  async #check(id: string, losses: number): Promise<void> {
    try {
      const restart = await restartIfLost(this.dependencies, id);
      this.#note(id, restart === 'started' ? losses + 1 : 0);
    } catch (error) {
      this.dependencies.log.error(
        { err: error, ...paymentIds(id) },
        'workflow not checked, or not started again; will retry',
      );
      this.#note(id, losses + 1);
    }
  }

  #note(id: string, losses: number): void {
    const intervalMs = Math.min(CHECK_INTERVAL_MS * 2 ** losses, MAX_INTERVAL_MS);
    this.#checks.set(id, { notBeforeMs: this.nowMs() + intervalMs, losses });
  }
}
