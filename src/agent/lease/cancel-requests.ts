/**
 * The jobs of one printer that a person does not want any more, as the last answer about its lease named them. An
 * answer comes every few seconds while the printer is this agent's, so nobody asks for a job that nobody cancels.
 */
export class CancelRequests {
  #named: ReadonlySet<string> = new Set();
  #current = { queueId: '', abort: new AbortController() };

  /** @param queueIds all that are named, by their names in the queue */
  update(queueIds: readonly string[]): void {
    this.#named = new Set(queueIds);
    if (this.#named.has(this.#current.queueId)) this.#current.abort.abort();
  }

  /** Aborted once the job is named; until the next job is asked for. */
  of(queueId: string): AbortSignal {
    this.#current = { queueId, abort: new AbortController() };
    if (this.#named.has(queueId)) this.#current.abort.abort();
    return this.#current.abort.signal;
  }
}
