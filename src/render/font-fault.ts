import { type Said, textOf } from '../contract/reason.ts';

/** A font file that labels cannot be set in. */
export class FontFault extends Error {
  override readonly name = 'FontFault';
  readonly said: Said;

  constructor(said: Said) {
    super(textOf(said));
    this.said = said;
  }
}
