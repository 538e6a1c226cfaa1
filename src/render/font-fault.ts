/** A font file that labels cannot be set in. */
export class FontFault extends Error {
  override readonly name = 'FontFault';
}
