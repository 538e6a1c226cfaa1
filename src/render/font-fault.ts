import { type Reason, reasonText } from '../contract/reason.ts';

/** A font file that labels cannot be set in. */
export class FontFault extends Error {
  override readonly name = 'FontFault';
  readonly said: Reason;

  constructor(said: Reason) {
    super(reasonText(said));
    this.said = said;
  }
}
