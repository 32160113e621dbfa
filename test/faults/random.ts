import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { mersenne } from 'pure-rand/generator/mersenne';

/** Draws that a seed decides. */
export class Random {
  readonly #generator: ReturnType<typeof mersenne>;

  constructor(seed: number) {
    this.#generator = mersenne(seed);
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return uniformInt(this.#generator, min, max);
  }

  chance(probability: number): boolean {
    return uniformFloat64(this.#generator) < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items.length === 0 ? undefined : items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('no items');
    return item;
  }

  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: uniformFloat64(this.#generator) }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }
}
