import { SaidFault } from '../contract/said-fault.ts';

/** A picture that cannot be drawn, whoever uses it. */
export class PictureFault extends SaidFault {
  override readonly name = 'PictureFault';
}
