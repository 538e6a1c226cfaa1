/** Idempotency keys of print requests: a repeated request prints nothing twice, another request is never refused for its key. */
import { signal } from '@preact/signals';
import { newKey, Refusal } from './call.ts';

/** The requests of one form. */
export class Attempts {
  /** Key by request, for requests whose answer is not there yet, or was lost: they may have been queued. */
  readonly #open = new Map<string, string>();
  /** Whether a request may have been queued although its answer was lost. */
  readonly doubt = signal(false);

  /**
   * Sends a request under a key of its own; as long as that has no answer, the same request has the same key.
   * @param request all that decides what is printed
   * @throws what `send` throws
   */
  async send<T>(request: unknown, send: (key: string) => Promise<T>): Promise<T> {
    const text = JSON.stringify(request);
    const known = this.#open.get(text);
    const key = known ?? newKey();
    this.#open.set(text, key);
    try {
      const answer = await send(key);
      this.#open.delete(text);
      return answer;
    } catch (error) {
      // A refusal of the repeated request says nothing about the first one, so it ends no doubt.
      if (known === undefined && error instanceof Refusal && error.status < 500) this.#open.delete(text);
      throw error;
    } finally {
      this.doubt.value = this.#open.size > 0;
    }
  }
}
