import type { Queryable } from '../../db/pool';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import { withTimeout } from '../with-timeout';

/** A load balancer decides by this state and repeats its request soon. */
const CHECK_TIMEOUT_MS = 2_000;
const FRESH_MS = 1_000;

/** Whether PostgreSQL and Temporal respond. */
interface ReadinessState {
  readonly postgresql: boolean;
  readonly temporal: boolean;
}

/**
 * Checks PostgreSQL and Temporal at most once a second, for all callers together: the endpoint is public.
 * @param db a pool of its own: requests that occupy the others do not make the process unready
 */
export class Readiness {
  #state: Promise<ReadinessState> | undefined;

  constructor(
    private readonly db: Queryable,
    private readonly workflows: Pick<PaymentWorkflowClient, 'ping'>,
  ) {}

  /** The state of the check that runs, or completed less than a second ago, else of a new one. */
  check(): Promise<ReadinessState> {
    this.#state ??= this.#query();
    return this.#state;
  }

  async #query(): Promise<ReadinessState> {
    const [postgresql, temporal] = await Promise.all([isUp(this.db.query('select 1')), isUp(this.workflows.ping())]);
    setTimeout(() => (this.#state = undefined), FRESH_MS).unref();
    return { postgresql, temporal };
  }
}

function isUp(check: Promise<unknown>): Promise<boolean> {
  return withTimeout(CHECK_TIMEOUT_MS, check, () => new Error('no response in time')).then(
    () => true,
    () => false,
  );
}
