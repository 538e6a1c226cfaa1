import { type Reason, reasonText } from '../contract/reason.ts';

/** A picture that cannot be drawn, whoever uses it. */
export class PictureFault extends Error {
  override readonly name = 'PictureFault';
  readonly said: Reason;

  constructor(said: Reason) {
    super(reasonText(said));
    this.said = said;
  }
}
