/** Keeps the document that was read last for a while, because its pages come one after the other. */

/** How long the document is kept after somebody asked for a page, ms. */
const KEPT = 10_000;

export class LastDocument<Read> {
  #last: { base64: string; how: string; read: Read } | undefined;
  #clearing: NodeJS.Timeout | undefined;

  /**
   * @param how the way in which it is read; the same bytes read in another way are another document.
   * @throws what `read` throws
   */
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
