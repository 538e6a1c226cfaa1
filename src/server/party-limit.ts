/** Bounds how many requests of one party are in hand at a time. */
export class PartyLimit {
  readonly most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  /** @returns what ends the request; undefined: the party has as many as it may */
  begin(party: string): (() => void) | undefined {
    const before = this.#counts.get(party) ?? 0;
    if (before >= this.most) return undefined;
    this.#counts.set(party, before + 1);
    return () => {
      const left = (this.#counts.get(party) ?? 1) - 1;
      if (left === 0) this.#counts.delete(party);
      else this.#counts.set(party, left);
    };
  }
}
