/** The document that was read last, kept for a while: its pages come one after the other. */

/** ms after the last page was asked for. */
const KEPT = 10_000;

export class LastDocument<Read> {
  #last: { base64: string; how: string; read: Read } | undefined;
  #clearing: NodeJS.Timeout | undefined;

  /** @param how it is read, besides; read otherwise, it is another document. @throws what `read` throws */
  of(base64: string, how: string, read: (base64: string) => Read): Read {
    if (this.#last?.how !== how || this.#last.base64 !== base64) {
      this.#last = undefined;
      this.#last = { base64, how, read: read(base64) };
    }
    clearTimeout(this.#clearing);
    this.#clearing = setTimeout(() => {
      this.#last = undefined;
    }, KEPT).unref();
    return this.#last.read;
  }
}
