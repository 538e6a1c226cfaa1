import { SaidFault } from '../../values/said-fault.ts';

/** Thrown for a font that labels cannot be set in. */
export class FontFault extends SaidFault {
  override readonly name = 'FontFault';
}
