import type { Queryable } from '../db/connection/pool';
import { withTimeout } from '../lib/with-timeout';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';

/** A load balancer decides by this state and repeats its request soon. */
const CHECK_TIMEOUT_MS = 2_000;
const FRESH_MS = 1_000;
/** If Temporal does not decide, its state is only shown. Load balancers wait for a response for about a second. */
const SHOWN_TIMEOUT_MS = 300;

/** Whether PostgreSQL and Temporal respond, and whether requests should be sent to this process. */
interface ReadinessState {
  readonly isReady: boolean;
  readonly postgresql: boolean;
  readonly temporal: boolean;
}

/**
 * Checks PostgreSQL and Temporal at most once a second each, for all callers together: the endpoint is public.
 * @param db a pool of its own: requests that occupy the others do not make the process unready
 */
export class Readiness {
  readonly #postgresql: CachedCheck;
  readonly #temporal: CachedCheck;
  #isStopping = false;

  constructor(db: Queryable, workflows: Pick<PaymentWorkflowClient, 'ping'>) {
    this.#postgresql = new CachedCheck(() => db.query('select 1'));
    this.#temporal = new CachedCheck(() => workflows.ping());
  }

  /** The process still serves for its drain time; load balancers should send it nothing more. */
  stop(): void {
    this.#isStopping = true;
  }

  /** @param needsTemporal waits for the check of Temporal; otherwise its last state is enough */
  async check(needsTemporal: boolean): Promise<ReadinessState> {
    const temporalCheck = this.#temporal.run();
    const shown = withTimeout(SHOWN_TIMEOUT_MS, temporalCheck, () => new Error('not yet known')).catch(
      () => this.#temporal.last,
    );
    const [postgresql, temporal] = await Promise.all([this.#postgresql.run(), needsTemporal ? temporalCheck : shown]);
    const isReady = !this.#isStopping && postgresql && (temporal || !needsTemporal);
    return { isReady, postgresql, temporal };
  }
}

class CachedCheck {
  /** Whether the last completed check succeeded. */
  last = false;
  #result: Promise<boolean> | undefined;

  constructor(private readonly check: () => Promise<unknown>) {}

  /** The result of the check that runs, or completed less than a second ago, else of a new one. */
  run(): Promise<boolean> {
    this.#result ??= this.#start();
    return this.#result;
  }

  async #start(): Promise<boolean> {
    this.last = await succeeds(this.check());
    setTimeout(() => (this.#result = undefined), FRESH_MS).unref();
    return this.last;
  }
}

function succeeds(check: Promise<unknown>): Promise<boolean> {
  return withTimeout(CHECK_TIMEOUT_MS, check, () => new Error('no response in time')).then(
    () => true,
    () => false,
  );
}
