/**
 * The jobs of one printer that a person has canceled, as the last answer about the printer's lease named
 * them. An answer comes every few seconds while the printer is this agent's, so a job that nobody cancels
 * costs no question. A job in hand stops with the ring for its mark, which waits for no answer.
 */
export class CancelRequests {
  #named: ReadonlySet<string> = new Set();
  /** The jobs in hand: one, and the one that follows it; one of them twice where the queue gave it again. */
  readonly #asked = new Map<AbortSignal, { queueId: string; abort: AbortController }>();

  /** @param queueIds all that are named, by their names in the queue */
  update(queueIds: readonly string[]): void {
    this.#named = new Set(queueIds);
    for (const queueId of queueIds) this.rung(queueId);
  }

  /** The job was named just now. One that is not in hand yet is named by the next answer too. */
  rung(name: string): void {
    for (const { queueId, abort } of this.#asked.values()) if (queueId === name) abort.abort();
  }

  /** A signal that is aborted once the job is named, until `over` is called with it. */
  of(queueId: string): AbortSignal {
    const abort = new AbortController();
    this.#asked.set(abort.signal, { queueId, abort });
    if (this.#named.has(queueId)) abort.abort();
    return abort.signal;
  }

  /** The job is not in hand any more. */
  over(asked: AbortSignal): void {
    this.#asked.delete(asked);
  }
}
