/**
 * JSON bodies, read without losing anything. `JSON.parse` turns 340123450000000018123 into another number and says
 * nothing; on a label that is another parcel. Such a number is replaced by an `InexactNumber`, which no schema
 * accepts, so that the answer points at it.
 */

/** A number in the body that a double does not hold. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  get detail(): string {
    return `the number ${this.source.slice(0, 40)} has more digits than a JSON number keeps; send it as a string`;
  }
}

/** A key that schemas leave out without a word: a field of that name would not be printed. */
export class ForbiddenKey extends Error {
  constructor() {
    super('the key "__proto__" is not allowed');
  }
}

/** Only a text with one of these can hold such a number or key; most bodies skip the slower parse. */
const SUSPICIOUS = /\d[\d.]{15,}|__proto__|\\u00[57]/;

/** @throws SyntaxError, ForbiddenKey */
export function parseJson(text: string): unknown {
  if (!SUSPICIOUS.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value: unknown, context?: { source?: string }) => {
    if (key === '__proto__') throw new ForbiddenKey();
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined || source.length < 16) return value;
    return decimal(source) === decimal(String(value)) ? value : new InexactNumber(source);
  });
}

/** One spelling for each decimal number: significant digits and the exponent of the last. */
function decimal(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`.replace('-', '').replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const last = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${mantissa.startsWith('-') ? '-' : ''}${significant}e${last}`;
}
