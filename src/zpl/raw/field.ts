/**
 * Fills a field of a raw ZPL template: joins its fixed text and a record's values to field data.
 *
 * Values stay data (see `field-data.ts`). A UTF-8 field takes any value. A field in another code page is sent as it stands if
 * its values are ASCII. Otherwise it is sent in UTF-8, with its fixed text converted: `^CI28` stands before the data, and the
 * template's `^CI` is restored after the field.
 */

import { because, type Reason } from '../../contract/reason.ts';
import { endsWithGs1 } from '../../values/check-digits.ts';
import type { Placeholder } from '../../values/merge.ts';
import { escapeFieldData, fieldPieces } from '../field-data.ts';
import { Code128Data } from './code128.ts';
import { type RawCommand, rawFault } from './commands.ts';
import { type Encoding, inUtf8, isAscii, UTF8 } from './encoding.ts';

/** A value's place in a field. */
export interface Slot extends Placeholder {
  /** The template's own text, already as ZPL. It is printed if the record has no such value. */
  readonly fallback: string;
}

/** How the data of a field is read. */
interface Reading {
  /** ^FH's indicator. */
  readonly indicator: string;
  /** Whether the field has ^FB or ^TB, in which `\&` breaks lines. */
  readonly block: boolean;
  /** The barcode that the data goes to: `^BC`, `^BX`, …. */
  readonly barcode: RawCommand | undefined;
  /** Commands of the field, each with the characters that it reads as escapes (`ownEscapes`). */
  readonly escapes: ReadonlyMap<string, string>;
  readonly encoding: Encoding;
}

export interface RawField extends Reading {
  /** The commands before the data: `^FH^FD`. */
  readonly open: string;
  readonly parts: readonly (string | Slot)[];
  /** `parts` with fixed text in UTF-8. Undefined: a barcode would get other bytes, or the character of a byte is not known. */
  readonly utf8: readonly (string | Slot)[] | undefined;
}

/** The characters that a command reads as its own escapes. There is no way to send them as plain data. */
export function ownEscapes({ code, params }: RawCommand): string {
  switch (code) {
    // Its parameter g names the character. Without g it depends on the firmware.
    case '^BX':
      return params.split(',')[6]?.trim() || '~_';
    // These stand for Code 93's own shift characters.
    case '^BA':
      return "&'()";
    case '^B0':
    case '^BO':
      return '~_';
    // These are FNC1, and the beginning of the composite part.
    case '^BR':
      return '#|';
    // "Data between < and > is processed as an escape sequence."
    case '^TB':
      return '<';
    // The indicators of the clock's date and time. If the first is not given, it is %.
    case '^FC': {
      const [first, ...others] = params.split(',').map((indicator) => indicator.trim());
      return [first || '%', ...others].join('');
    }
    default:
      return '';
  }
}

/**
 * How many digits stand before the check digit. A printer adds that one, cuts off more digits, and fills up fewer with zeros.
 */
const RETAIL_DIGITS: Readonly<Record<string, number>> = { '^B8': 7, '^BE': 12, '^BU': 11 };

/** Barcodes that hold only digits. Printers leave out other characters, or the whole barcode. */
const DIGITS_ONLY: ReadonlySet<string> = new Set(['^B2', '^BI', '^BJ', '^BM']);

/** What stands before the data of a ^BQ: error correction and input mode; before these, the numbers of a symbol in parts. */
const QR_SWITCHES = /^(?:D[^,]*,[^,]*,[^,]*,)?[HQML]?[AM],/i;

/**
 * @param parts slots, and fixed text in the form that it has with ^FH
 * @param guess given if the template names no encoding: bytes that are not UTF-8 are read in this code page
 * @throws JobFaultError `template-invalid`: a value would stand where a ^BQ reads its switches, and would lose characters
 */
export function rawField(
  open: string,
  parts: readonly (string | Slot)[],
  reading: Reading,
  guess?: Encoding,
): RawField {
  const { indicator, barcode, encoding } = reading;
  const [first] = parts;
  const begins = typeof first === 'string' ? printed(first, indicator) : '';
  if (barcode?.code === '^BQ' && !QR_SWITCHES.test(begins))
    throw rawFault(because('zpl-bq-switches', { placeholder: '{{name}}' }), barcode.line);
  const texts = parts.flatMap((part) => (typeof part === 'string' ? [part] : [part.fallback]));
  if (texts.every((text) => isAscii(text, indicator))) return { ...reading, open, parts, utf8: parts };
  const page = guess ?? encoding;
  const convert = (text: string) =>
    encoding === UTF8 && guess === undefined ? text : inUtf8(text, indicator, page, guess !== undefined);
  const utf8: (string | Slot)[] = [];
  for (const part of barcode === undefined ? parts : []) {
    const text = convert(typeof part === 'string' ? part : part.fallback);
    if (text !== undefined) utf8.push(typeof part === 'string' ? text : { ...part, fallback: text });
  }
  const whole = barcode === undefined && utf8.length === parts.length ? utf8 : undefined;
  return { ...reading, open, parts: encoding === UTF8 ? (whole ?? parts) : parts, utf8: whole };
}

/**
 * Fills a field with the values of a record.
 * @param textFor gives a slot's value; undefined: the record has none, and the fallback is printed
 * @returns `switched`: the field was switched to UTF-8, and the code page has to be restored after it
 * @throws the error that `refuse` makes
 */
export function fieldText(
  field: RawField,
  textFor: (slot: Slot) => string | undefined,
  refuse: (slot: Slot, reason: Reason) => Error,
): { text: string; switched: boolean } {
  const { parts, encoding, indicator, open, barcode } = field;
  let beyond: Slot | undefined;
  const alone = parts.length === 1;
  const code128 = barcode?.code === '^BC' ? new Code128Data(barcode.params, alone) : undefined;
  const filled = parts.map((part) => {
    const value = typeof part === 'string' ? undefined : textFor(part);
    if (typeof part === 'string' || value === undefined) {
      code128?.own(printed(typeof part === 'string' ? part : part.fallback, indicator));
      return undefined;
    }
    const data = plainData(field, value, (reason) => refuse(part, reason), code128);
    if (/[^\0-\x7f]/.test(data)) beyond ??= part;
    return data;
  });
  code128?.end();
  const digits = RETAIL_DIGITS[barcode?.code ?? ''];
  const last = parts.findLast((part, at) => typeof part !== 'string' && (filled[at] ?? '') !== '');
  if (digits !== undefined && typeof last === 'object') {
    const own = (part: string | Slot) => printed(typeof part === 'string' ? part : part.fallback, indicator);
    const data = parts.map((part, at) => filled[at] ?? own(part)).join('');
    const whole = data.length === digits || (data.length === digits + 1 && endsWithGs1(data));
    if (/\D/.test(data) || !whole)
      throw refuse(last, because('zpl-retail-digits', { command: barcode?.code ?? '', digits }));
  }
  const switched = beyond !== undefined && encoding !== UTF8;
  const fixed = switched ? field.utf8 : parts;
  if (fixed === undefined && beyond !== undefined) {
    throw refuse(beyond, because('zpl-beside-fixed', {}));
  }
  let text = switched ? `^CI28${open}` : open;
  for (const [at, part] of (fixed ?? parts).entries()) {
    const data = filled[at];
    if (data !== undefined) text += escapeFieldData(data, indicator);
    else text += typeof part === 'string' ? part : part.fallback;
  }
  return { text, switched };
}

/** Fixed text with its ^FH escapes resolved. Each escaped byte becomes a character. */
function printed(text: string, indicator: string): string {
  const pieces = Array.from(fieldPieces(text, indicator));
  return pieces
    .map((piece) => (piece.byte === undefined ? piece.text : String.fromCharCode(piece.byte)))
    .join('');
}

/** A value with the escapes of the barcode or text block, which reads the field's data after ^FH is resolved. */
function plainData(
  { barcode, block, escapes }: Reading,
  text: string,
  refuse: (reason: Reason) => Error,
  code128: Code128Data | undefined,
): string {
  for (const [command, characters] of escapes) {
    if (Array.from(characters).some((character) => text.includes(character))) {
      throw refuse(because('zpl-escape', { command }));
    }
  }
  if (barcode !== undefined) {
    if (!text.isWellFormed()) throw refuse(because('surrogate', {}));
    if (DIGITS_ONLY.has(barcode.code) && /\D/.test(text))
      throw refuse(because('zpl-digits-only', { command: barcode.code }));
    if (code128 !== undefined) return code128.value(text, refuse);
    // ^B7: "\&" is a line break, "\\" a backslash.
    if (barcode.code === '^B7') return text.replaceAll('\\', '\\\\');
    return text;
  }
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  // "Field Block": \\ is a backslash, \& a line break. Line breaks are added after backslashes are escaped.
  const joined = block ? lines.map((line) => line.replaceAll('\\', '\\\\')).join('\\&') : lines.join(' ');
  return joined.replaceAll('\t', ' ').replace(/[\0-\x1f\x7f]/g, '\ufffd');
}
