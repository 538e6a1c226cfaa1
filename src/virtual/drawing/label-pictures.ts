/** Draws the labels of one format on demand, and once for consecutive labels that are alike. */
import type { LabelPlan, MediaDots } from '../../zpl/interpreter/label-plan.ts';
import { isSerial, labelPieces } from '../../zpl/interpreter/label-zpl.ts';
import { rasterPool } from './raster-pool.ts';
import type { RasterReply } from './raster-protocol.ts';

export class LabelPictures {
  readonly #plan: LabelPlan;
  readonly #media: MediaDots;
  readonly #faults: readonly string[];
  #last: { serial: number; reply: Promise<RasterReply> } | undefined;

  /** @param faults why its labels come out crossed out, besides what is wrong with the format itself */
  constructor(plan: LabelPlan, media: MediaDots, faults: readonly string[] = []) {
    this.#plan = plan;
    this.#media = media;
    this.#faults = [...faults, ...plan.faults];
  }

  /** @param index of the label, from 0. @throws when nothing can be drawn; the next call tries again */
  of(index: number): Promise<RasterReply> {
    const serial = isSerial(this.#plan) ? Math.floor(index / this.#plan.replicates) : 0;
    if (this.#last?.serial !== serial) this.#last = { serial, reply: this.#draw(serial) };
    const { reply } = this.#last;
    reply.catch(() => {
      if (this.#last?.reply === reply) this.#last = undefined;
    });
    return reply;
  }

  async #draw(serial: number): Promise<RasterReply> {
    const { width: mediaWidth, height: mediaHeight } = this.#media;
    const { width, length, inverted, mirrored } = this.#plan;
    const page = { width, length, mediaWidth, mediaHeight, inverted, mirrored };
    try {
      return await rasterPool.draw({
        ...page,
        pieces: labelPieces(this.#plan, serial),
        faults: this.#faults,
      });
    } catch (error) {
      return await rasterPool.draw({ ...page, pieces: [], faults: [...this.#faults, String(error)] });
    }
  }
}
