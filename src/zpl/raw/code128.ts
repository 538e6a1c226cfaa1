/**
 * Puts values into a ^BC so that the barcode holds them as they are. How ^BC reads its data depends on its mode. In mode N it
 * also depends on the code set that the template's own text has chosen before the value.
 *
 * Source: ZPL II Programming Guide, "^BC – Code 128 Bar Code (Subsets A, B, and C)".
 */
import { because, type Reason } from '../../contract/reason.ts';
import { endsWithGs1 } from '../../values/check-digits.ts';
import { endsByLength } from '../../values/gs1-elements.ts';
import { CODE_SET_CHANGES, CODE_SET_STARTS, type CodeSet } from '../bars.ts';

type Refuse = (reason: Reason) => Error;

/** How many digits mode U takes. The printer adds the check digit. */
const UCC_CASE_DIGITS = 19;
/** An element string as people read it. Its brackets and blanks are not encoded. */
const BRACKETED = /^(?:\(\d{2,4}\)[^()]+)+$/;
const ELEMENT = /\((\d{2,4})\)([^()]+)/g;

/** Goes through the data of one field, from left to right. */
export class Code128Data {
  readonly #mode: string;
  /** Whether the value is all of the data. */
  readonly #alone: boolean;
  #data = '';
  #set: CodeSet = 'B';
  /** In a code set of digit pairs: whether only the first digit of a pair has come. */
  #half = false;
  /** Makes the error that refuses the last value. */
  #refuse: Refuse | undefined;

  /** @param params of ^BC */
  constructor(params: string, alone: boolean) {
    this.#mode = params.split(',')[5]?.trim().charAt(0).toUpperCase() ?? 'N';
    this.#alone = alone;
  }

  /** Takes the template's own text, with its ^FH escapes resolved. @throws the error for a value that this text would break */
  own(text: string): void {
    for (const char of text.replace(/[\r\n]/g, '')) {
      const invokes = this.#data.endsWith('>');
      const first = this.#data === '>';
      this.#data += char;
      if (!this.#counts) continue;
      if (invokes) {
        this.#pairEnds();
        this.#set = (first ? CODE_SET_STARTS : CODE_SET_CHANGES)[char] ?? this.#set;
        // The > of this invocation must not begin another one.
        this.#data = `${this.#data.slice(0, -2)} `;
      } else if (char !== '>' && this.#set !== 'B') {
        const digit = /\d/.test(char);
        if (!digit) this.#pairEnds();
        this.#half = digit && !this.#half;
      }
    }
  }

  /** A value as data of the barcode. @throws what `refuse` makes */
  value(text: string, refuse: Refuse): string {
    if (text === '') return '';
    if (this.#data.endsWith('>')) throw refuse(because('zpl-escape', { command: '^BC' }));
    this.#refuse = refuse;
    const data = this.#held(text, refuse);
    this.#data += data;
    return data;
  }

  /** @throws the error for a value, if the printer would cut the data or fill it up because of its length */
  end(): void {
    this.#pairEnds();
    if (this.#mode !== 'U' || this.#refuse === undefined || !/^\d+$/.test(this.#data)) return;
    const checked = this.#data.length === UCC_CASE_DIGITS + 1 && endsWithGs1(this.#data);
    if (this.#data.length !== UCC_CASE_DIGITS && !checked) throw this.#refuse(because('zpl-bc-mode-u', {}));
  }

  /** Whether the data chooses the code sets. */
  get #counts(): boolean {
    return !/[ADU]/.test(this.#mode);
  }

  #held(text: string, refuse: Refuse): string {
    switch (this.#mode) {
      case 'D':
        return this.#elements(text, refuse);
      case 'U':
        if (/\D/.test(text)) throw refuse(because('zpl-bc-mode-u', {}));
        return text;
      case 'A':
        if (/[^\0-\x7f]/.test(text)) throw refuse(because('zpl-bc-ascii', {}));
        // Some printers read >0 as the character > here, as in mode N, and others as two characters.
        if (text.includes('>')) throw refuse(because('zpl-escape', { command: '^BC' }));
        return text;
      default:
        return this.#inSet(text, refuse);
    }
  }

  #elements(text: string, refuse: Refuse): string {
    const blank = this.#alone && text.includes('(') ? ' ' : '';
    if (/[^\x21-\x7e]/.test(text.replaceAll(blank, ''))) throw refuse(because('gs1-characters', {}));
    if (text.includes('>')) throw refuse(because('zpl-escape', { command: '^BC' }));
    if (!/[()]/.test(text)) return text;
    if (!this.#alone) throw refuse(because('zpl-bc-mode-d', {}));
    if (!BRACKETED.test(text)) throw refuse(because('gs1-brackets', {}));
    let separator = '';
    return text.replace(ELEMENT, (element, ai: string) => {
      const separated = separator + element;
      // The printer does not end data of variable length by itself, so the next AI would belong to that data.
      separator = endsByLength(ai) ? '' : '>8';
      return separated;
    });
  }

  #inSet(text: string, refuse: Refuse): string {
    if (this.#set === 'B') {
      if (/[^\x20-\x7e]/.test(text)) throw refuse(because('zpl-bc-set-b', {}));
      // "Code 128 Invocation Characters": >0 is the character > itself.
      return text.replaceAll('>', '>0');
    }
    if (/\D/.test(text)) throw refuse(because('zpl-bc-pairs', { set: this.#set }));
    if (text.length % 2 === 1) this.#half = !this.#half;
    return text;
  }

  /** Ends a pair of digits. A first digit without its second one would not be printed. */
  #pairEnds(): void {
    if (this.#half && this.#refuse !== undefined)
      throw this.#refuse(because('zpl-bc-pairs', { set: this.#set }));
    this.#half = false;
  }
}
