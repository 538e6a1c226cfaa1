import { type Said, textOf } from '../contract/reason.ts';

/** A picture that cannot be drawn, whoever uses it. */
export class PictureFault extends Error {
  override readonly name = 'PictureFault';
  readonly said: Said;

  constructor(said: Said) {
    super(textOf(said));
    this.said = said;
  }
}
