import { SaidFault } from '../../values/said-fault.ts';

/** Thrown for a picture that cannot be drawn, whatever element uses it. */
export class PictureFault extends SaidFault {
  override readonly name = 'PictureFault';
}
