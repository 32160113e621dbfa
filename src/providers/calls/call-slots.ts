import { Semaphore, withTimeout, type SemaphoreInterface } from 'async-mutex';
import type { Indeterminate, ProviderCall } from '../provider';
import type { ProviderRegistry } from '../registry';
import { wrapCalls, type CallWrapper } from './wrap-calls';

/** A call takes less than a second if the acquirer responds, so that a slot is free soon. */
const WAIT_MS = 1_000;

const NO_SLOT = {
  outcome: 'indeterminate',
  reason: 'too many calls to the provider account are in flight',
} as const satisfies Indeterminate;

/** Limits the calls in flight to each acquirer's account. */
export function limitCalls(registry: ProviderRegistry, slotsPerAccount: number): ProviderRegistry {
  const accounts = new Map<string, CallWrapper>();
  const slotsOf = (accountId: string): CallWrapper => {
    const slots = accounts.get(accountId) ?? callSlots(slotsPerAccount);
    accounts.set(accountId, slots);
    return slots;
  };
  return {
    ...registry,
    forAccount: async (accountId) => wrapCalls(await registry.forAccount(accountId), slotsOf(accountId)),
  };
}

/**
 * Limits the calls in flight to one account. A call waits for a slot while the account responds. If all slots are taken
 * by calls without a response, further calls are `indeterminate` immediately: what they would occupy in the worker is
 * free for other work.
 */
export function callSlots(count: number): CallWrapper {
  const slots = new AccountSlots(count);
  return (call, work) => slots.run(call, work);
}

class AccountSlots {
  readonly #slots: SemaphoreInterface;
  /** The calls that have a slot or wait for one. */
  #calls = 0;
  /** The time of the last response, or of the first call while there was no response. */
  #respondedAtMs = 0;

  constructor(count: number) {
    this.#slots = withTimeout(new Semaphore(count), WAIT_MS, new Error('no slot'));
  }

  /** Makes a call, or returns `indeterminate` without one. */
  async run<Outcome extends { readonly outcome: string }>(
    call: ProviderCall,
    work: () => Promise<Outcome>,
  ): Promise<Outcome | Indeterminate> {
    if (this.#slots.isLocked() && Date.now() - this.#respondedAtMs >= WAIT_MS) return NO_SLOT;
    if (this.#calls === 0) this.#respondedAtMs = Date.now();
    this.#calls += 1;
    const release = await this.#acquire();
    try {
      if (!release || call.signal.aborted) return NO_SLOT;
      const outcome = await work();
      if (outcome.outcome !== 'indeterminate') this.#respondedAtMs = Date.now();
      return outcome;
    } finally {
      this.#calls -= 1;
      release?.();
    }
  }

  /** @returns undefined if no slot became free in time */
  async #acquire(): Promise<(() => void) | undefined> {
    try {
      const [, release] = await this.#slots.acquire();
      return release;
    } catch {
      return undefined;
    }
  }
}
