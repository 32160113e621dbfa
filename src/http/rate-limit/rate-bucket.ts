/** The most that may be used ahead of the rate: a page of the documentation loads six files. */
const BURST_SECONDS = 2;

/** A budget that grows with time (token bucket). */
export class RateBucket {
  readonly size: number;
  #left: number;
  #updatedAtMs = performance.now();

  constructor(private readonly perSecond: number) {
    this.size = perSecond * BURST_SECONDS;
    this.#left = this.size;
  }

  has(requests: number): boolean {
    const nowMs = performance.now();
    const earned = ((nowMs - this.#updatedAtMs) / 1_000) * this.perSecond;
    this.#left = Math.min(this.#left + earned, this.size);
    this.#updatedAtMs = nowMs;
    return this.#left >= requests;
  }

  take(requests: number): void {
    this.#left -= requests;
  }
}
