/** A picture that cannot be drawn, whoever uses it. */
export class PictureFault extends Error {
  override readonly name = 'PictureFault';
}
