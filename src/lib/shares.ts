/** What one owner may hold at the same time. */
export interface Share {
  /** Unique among all owners. */
  readonly owner: string;
  readonly max: number;
}

/** Counts what owners hold at the same time. Memory is bounded by what is held. */
export class Shares {
  readonly #held = new Map<string, number>();

  /** @returns the first of the shares that is used up */
  findExhausted<S extends Share>(shares: readonly S[]): S | undefined {
    return shares.find(({ owner, max }) => (this.#held.get(owner) ?? 0) >= max);
  }

  /** Takes one of each share. @returns a function that returns them; call it once */
  hold(shares: readonly Share[]): () => void {
    for (const { owner } of shares) this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
    return () => shares.forEach(({ owner }) => this.#return(owner));
  }

  #return(owner: string): void {
    const left = (this.#held.get(owner) ?? 1) - 1;
    if (left === 0) this.#held.delete(owner);
    else this.#held.set(owner, left);
  }
}
