/** How a process hears at once that a lane has something to take, or that its marks have changed. */

/** @param what a mark (see `markIn`), or else that a job waits; null: it may be either */
export type BellHandler = (what: string | null) => void;

/** Who listens, by name: a ring wakes the listeners of its name, and nobody else. */
export abstract class Bell {
  readonly #listeners = new Map<string, Set<BellHandler>>();

  /** Calls `ring` when the name is rung, or may have been. Returns a function that stops it. */
  listen(name: string, ring: BellHandler): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    listeners.add(ring);
    this.#listeners.set(name, listeners);
    if (listeners.size === 1) this.begin(name);
    return () => {
      if (!listeners.delete(ring) || listeners.size > 0) return;
      this.#listeners.delete(name);
      this.end(name);
    };
  }

  ring(name: string, what: string | null): void {
    for (const ring of this.#listeners.get(name) ?? []) ring(what);
  }

  /** To be called after a time in which rings may have been missed. */
  ringAll(): void {
    for (const name of this.#listeners.keys()) this.ring(name, null);
  }

  /** The name has its first listener. */
  protected abstract begin(name: string): void;
  /** The name has no listener any more. */
  protected abstract end(name: string): void;
}
