/** Idempotency keys of print requests: a repeated request prints nothing twice, and a different one is never refused for its key. */
import { signal } from '@preact/signals';
import { newKey, Refusal } from './call.ts';

/** The requests of one form. */
export class Attempts {
  /** The keys of requests that have no answer yet, or whose answer was lost: their jobs may have been queued. */
  readonly #open = new Map<string, string>();
  /** Whether a job may have been queued although the answer was lost. */
  readonly doubt = signal(false);

  /**
   * Sends a request with a key of its own. Until it is answered, sending the same request again uses the same key.
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
      // If a repeated request is refused, the first one may still have been accepted: its key is kept, and so is the doubt.
      if (known === undefined && error instanceof Refusal && error.status < 500) this.#open.delete(text);
      throw error;
    } finally {
      this.doubt.value = this.#open.size > 0;
    }
  }
}
