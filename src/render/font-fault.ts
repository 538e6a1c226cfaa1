import { SaidFault } from '../contract/said-fault.ts';

/** A font file that labels cannot be set in. */
export class FontFault extends SaidFault {
  override readonly name = 'FontFault';
}
