/** Errors that carry a reason: the message says it in English, its code lets a page say it in others. */
import { type Reason, reasonText } from '../contract/reason.ts';

export class SaidFault extends Error {
  readonly said: Reason;

  constructor(said: Reason, place = '') {
    super(`${place}${reasonText(said)}`);
    this.said = said;
  }
}

/** An error that names the record's field, if one field alone is at fault. `said` does not name the field. */
export class FieldFault extends SaidFault {
  readonly field: string | undefined;

  constructor(said: Reason, field?: string) {
    super(said, field === undefined ? '' : `field ${JSON.stringify(field)}: `);
    this.field = field;
  }
}
