import { condition } from '@temporalio/workflow';
import type { StepActor } from '../src/domain/actor';
import type { Correlation } from '../src/domain/correlation';
import type { PaymentAction } from '../src/domain/payment-actions';

/** A request in the queue of the payment's workflow. */
export interface QueuedRequest {
  readonly action: PaymentAction;
  readonly actor: StepActor;
  readonly correlation?: Correlation | undefined;
  /** Takes the reason of the rejection, or null if the action was performed. */
  readonly complete: (rejection: string | null) => void;
}

/**
 * What the workflow of a payment has received and not handled: requests, in their order, and whether the status at the
 * provider may have changed. Ten notifications need one status query, so provider updates are not counted.
 */
export class PaymentQueue {
  readonly #requests: QueuedRequest[] = [];
  #hasProviderUpdate = false;

  get hasRequests(): boolean {
    return this.#requests.length > 0;
  }

  hasRequest(action: PaymentAction): boolean {
    return this.#requests.some((request) => request.action === action);
  }

  add(request: QueuedRequest): void {
    this.#requests.push(request);
  }

  /** Adds a request whose result no caller waits for. */
  addWithoutCaller(action: PaymentAction, actor: StepActor): void {
    this.add({ action, actor, complete: () => undefined });
  }

  takeRequest(): QueuedRequest | undefined {
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
    await (timer ? condition(hasMessage, timer.afterMs, { summary: timer.summary }) : condition(hasMessage));
    return hasMessage();
  }
}
