/** A thread that reads or draws pages of strangers' documents, with a bound on its time and memory. */
import { because, type Reason } from '../../contract/reason.ts';
import { DrawingStopped, DrawingThread } from '../drawing-thread.ts';
import { PictureFault } from '../image/picture-fault.ts';

/** How long one answer may take, ms. */
const TIME = 10_000;
/** The most by which the process may grow over one answer, bytes. */
const MEMORY = 512 * 1024 * 1024;
const HEAP_MB = 256;
/** How long the thread is kept for the next page, ms. */
const KEPT = 10_000;

let worked = 0;

/** How long these threads have worked for all answers so far, ms. The clocks of other threads do not include this work. */
export function pagesWorkedMs(): number {
  return worked;
}

/** `worked`: ms that the thread has worked for the answer. */
export type PageReply<Made> = { readonly id: number; readonly worked: number } & (
  | { readonly made: Made }
  | { readonly refused: Reason }
);

export class PageThread<Order, Made> {
  readonly #thread: DrawingThread<Order, PageReply<Made>>;
  readonly #broken: Reason;
  readonly #rests: () => void;
  #answers = 0;

  /**
   * @param broken the reason that is given for a document over which the thread has died
   * @param rests called some time after the last answer, to drop what was kept for the next page
   */
  constructor(file: URL, broken: Reason, rests: () => void = () => undefined) {
    this.#thread = new DrawingThread(file, { memory: MEMORY, time: TIME, heapMb: HEAP_MB });
    this.#broken = broken;
    this.#rests = rests;
  }

  /** @throws PictureFault */
  async ask(order: Order): Promise<Made> {
    this.#thread.acquire();
    try {
      const reply = await this.#thread.draw(order);
      worked += reply.worked;
      if ('refused' in reply) throw new PictureFault(reply.refused);
      return reply.made;
    } catch (error) {
      if (!(error instanceof DrawingStopped)) throw error;
      worked += TIME;
      if (error.reason === 'time') throw new PictureFault(because('draws-long', { seconds: TIME / 1_000 }));
      throw new PictureFault(error.reason === 'memory' ? because('draws-much', {}) : this.#broken);
    } finally {
      const answer = ++this.#answers;
      setTimeout(() => {
        if (answer === this.#answers) this.#rests();
        void this.#thread.release();
      }, KEPT).unref();
    }
  }
}
