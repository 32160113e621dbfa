import { condition } from '@temporalio/workflow';
import type { StepActor } from '../src/domain/actor';
import type { Correlation } from '../src/domain/correlation';
import { WorkflowClock } from './workflow-clock';

/** A request in the queue of a workflow. */
export interface QueuedRequest<Action extends string> {
  readonly action: Action;
  /** The version of the payout that the requester has seen. */
  readonly version?: number;
  readonly actor: StepActor;
  readonly correlation?: Correlation | undefined;
  /** Takes the reason of the rejection, or null if the action was performed. */
  readonly complete: (rejection: string | null) => void;
}

/**
 * What the workflow of a payment or a payout has received and not handled: requests, in their order, and whether the
 * status at the provider may have changed. Ten notifications need one status query, so provider updates are not
 * counted.
 */
export class RequestQueue<Action extends string> {
  /** Knows the timers of `wait`. */
  readonly clock = new WorkflowClock();
  readonly #requests: QueuedRequest<Action>[] = [];
  #hasProviderUpdate = false;

  get hasRequests(): boolean {
    return this.#requests.length > 0;
  }

  hasRequest(action: Action): boolean {
    return this.#requests.some((request) => request.action === action);
  }

  add(request: QueuedRequest<Action>): void {
    this.#requests.push(request);
  }

  /** Adds a request. @returns why it was rejected; null once it was performed */
  request(request: Omit<QueuedRequest<Action>, 'complete'>): Promise<string | null> {
    return new Promise((complete) => this.add({ ...request, complete }));
  }

  /** Adds a request whose result no caller waits for. */
  addWithoutCaller(action: Action, actor: StepActor): void {
    this.add({ action, actor, complete: () => undefined });
  }

  takeRequest(): QueuedRequest<Action> | undefined {
    return this.#requests.shift();
  }

  addProviderUpdate(): void {
    this.#hasProviderUpdate = true;
  }

  /** @returns whether the status at the provider may have changed since the last call */
  takeProviderUpdate(): boolean {
    const hadProviderUpdate = this.#hasProviderUpdate;
    this.#hasProviderUpdate = false;
    return hadProviderUpdate;
  }

  /**
   * Waits for a request or a provider update; without a timer, as long as that takes.
   * @param timer its name in the Web UI is its `summary`
   * @returns false if the timer fired and nothing came
   */
  async wait(timer?: { readonly afterMs: number; readonly summary: string }): Promise<boolean> {
    const hasMessage = () => this.#hasProviderUpdate || this.hasRequests;
    await (timer ? this.clock.wait(hasMessage, timer) : condition(hasMessage));
    return hasMessage();
  }
}
