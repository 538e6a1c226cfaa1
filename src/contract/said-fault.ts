/** Faults that say a reason: in English as their message, and by its code in the language of who looks. */
import { type Reason, reasonText } from './reason.ts';

export class SaidFault extends Error {
  readonly said: Reason;

  constructor(said: Reason, place = '') {
    super(`${place}${reasonText(said)}`);
    this.said = said;
  }
}

/** One that names the record's field, where one alone is at fault; what is said is without it. */
export class FieldFault extends SaidFault {
  readonly field: string | undefined;

  constructor(said: Reason, field?: string) {
    super(said, field === undefined ? '' : `field ${JSON.stringify(field)}: `);
    this.field = field;
  }
}
