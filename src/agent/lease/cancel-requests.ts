/**
 * The jobs of one printer that a person has canceled, as the last answer about the printer's lease named
 * them. An answer comes every few seconds while the printer is this agent's, so a job that nobody cancels
 * costs no question.
 */
export class CancelRequests {
  #named: ReadonlySet<string> = new Set();
  /** The jobs in hand: one, and the one that follows it. */
  readonly #asked = new Map<string, AbortController>();

  /** @param queueIds all that are named, by their names in the queue */
  update(queueIds: readonly string[]): void {
    this.#named = new Set(queueIds);
    for (const [queueId, abort] of this.#asked) if (this.#named.has(queueId)) abort.abort();
  }

  /** A signal that is aborted once the job is named. It works until two other jobs have been asked for. */
  of(queueId: string): AbortSignal {
    const abort = new AbortController();
    this.#asked.delete(queueId);
    this.#asked.set(queueId, abort);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > 2 && oldest !== undefined) this.#asked.delete(oldest);
    if (this.#named.has(queueId)) abort.abort();
    return abort.signal;
  }
}
