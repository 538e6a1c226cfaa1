/** Idempotency keys of print requests: a repeated request prints nothing twice, another request is never refused for its key. */
import { signal } from '@preact/signals';
import { newKey, Refusal } from './call.ts';

/** The requests of one form. */
export class Attempts {
  /** Key by request, for requests whose answer was lost: they may have been queued. */
  readonly #lost = new Map<string, string>();
  /** Whether a request may have been queued although its answer was lost. */
  readonly doubt = signal(false);

  /**
   * Sends a request under a key of its own; only after a lost answer has the same request its first key again.
   * @param request all that decides what is printed
   * @throws what `send` throws
   */
  async send<T>(request: unknown, send: (key: string) => Promise<T>): Promise<T> {
    const text = JSON.stringify(request);
    const key = this.#lost.get(text) ?? newKey();
    try {
      const answer = await send(key);
      this.#lost.delete(text);
      return answer;
    } catch (error) {
      // A refusal of the repeated request says nothing about the first one, so it ends no doubt.
      if (!(error instanceof Refusal) || error.status >= 500) this.#lost.set(text, key);
      throw error;
    } finally {
      this.doubt.value = this.#lost.size > 0;
    }
  }
}
