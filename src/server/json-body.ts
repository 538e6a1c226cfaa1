/**
 * JSON bodies, read without losing digits. `JSON.parse` turns 340123450000000018123 into another number and says
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

/** Only a text with a run like this can hold such a number; most bodies skip the slower parse. */
const MANY_DIGITS = /\d[\d.]{15,}/;

/** @throws SyntaxError */
export function parseJson(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
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
