import { networkOf } from './client-address';

const FAILURES_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** About 2 MB. An attacker with more networks than this is under the limit from each of them anyhow. */
const MAX_NETWORKS = 10_000;

/**
 * The requests without a good key that come from an address, or from a /64 of IPv6, in a minute. Each process counts
 * its own, in bounded memory: the limit spares us noise, it is not what keeps keys from being guessed (192 bits do).
 * It only ever refuses requests whose key has failed: merchants behind the same address stay undisturbed.
 */
export class AuthFailureLimiter {
  /** In the order in which their minutes end. */
  readonly #minutes = new Map<string, { failures: number; readonly deadlineAtMs: number }>();

  /** @returns the seconds to wait when there were too many; undefined while there were not */
  count(address: string): number | undefined {
    const nowMs = Date.now();
    const network = networkOf(address);
    this.#evictExpired(nowMs);
    const minute = this.#minutes.get(network) ?? { failures: 0, deadlineAtMs: nowMs + MINUTE_MS };
    this.#minutes.set(network, minute);
    minute.failures += 1;
    return minute.failures > FAILURES_A_MINUTE ? Math.ceil((minute.deadlineAtMs - nowMs) / 1000) : undefined;
  }

  #evictExpired(nowMs: number): void {
    for (const [network, { deadlineAtMs }] of this.#minutes) {
      if (nowMs < deadlineAtMs && this.#minutes.size < MAX_NETWORKS) return;
      this.#minutes.delete(network);
    }
  }
}
