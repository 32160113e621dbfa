import { networkOf } from '../../lib/networks';

const MAX_FAILURES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** About 2 MB. An attacker with more networks is below the limit from each of them. */
const MAX_NETWORKS = 10_000;

/**
 * Counts the requests with a failed key per minute and address, or /64 of IPv6. Each process counts its own, in bounded
 * memory. The limit reduces load; 192 random bits protect the keys. It rejects only requests whose key has failed, so
 * it does not affect merchants behind the same address.
 */
export class AuthFailureLimiter {
  /** In the order of their deadlines. */
  readonly #minutes = new Map<string, { failures: number; readonly deadlineAtMs: number }>();

  /** @returns the seconds to wait if there were too many failures */
  count(address: string): number | undefined {
    const nowMs = Date.now();
    const network = networkOf(address);
    this.#evictExpired(nowMs);
    const minute = this.#minutes.get(network) ?? { failures: 0, deadlineAtMs: nowMs + MINUTE_MS };
    this.#minutes.set(network, minute);
    minute.failures += 1;
    return minute.failures > MAX_FAILURES_PER_MINUTE ? Math.ceil((minute.deadlineAtMs - nowMs) / 1000) : undefined;
  }

  /** Whether the next failure of the address is rejected as one too many. */
  isOverLimit(address: string): boolean {
    this.#evictExpired(Date.now());
    const { failures } = this.#minutes.get(networkOf(address)) ?? { failures: 0 };
    return failures >= MAX_FAILURES_PER_MINUTE;
  }

  #evictExpired(nowMs: number): void {
    for (const [network, { deadlineAtMs }] of this.#minutes) {
      if (nowMs < deadlineAtMs && this.#minutes.size < MAX_NETWORKS) return;
      this.#minutes.delete(network);
    }
  }
}
