/** Random numbers that are the same for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws Error where there is nothing to pick from */
  pick<T>(from: readonly T[]): T {
    const picked = from[this.between(0, from.length - 1)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  /** The heavier, the likelier. @throws Error where there is nothing to pick from */
  weighted<T extends { weight: number }>(from: readonly T[]): T {
    let at = this.next() * from.reduce((sum, { weight }) => sum + weight, 0);
    for (const one of from) {
      at -= one.weight;
      if (at < 0) return one;
    }
    throw new Error('nothing to pick from');
  }
}
