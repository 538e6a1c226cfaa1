/**
 * Reads and writes field data (`^FD`, `^FV`) with the escapes of `^FH`. In an escape, an indicator character and two
 * hexadecimal digits stand for a byte.
 *
 * Source: ZPL II Programming Guide, ^FD, and ^FH ("Field Hexadecimal Indicator").
 */
import { isUtf8 } from 'node:buffer';

/**
 * Characters that are sent as they are. The others are escaped, because `^` and `~` would start a command, a backslash breaks
 * lines in ^FB, and printers swallow or obey control characters.
 */
const HARMLESS = /^[A-Za-z0-9 .,:;/()+\-*=#@!?%&$'"<>[\]{}|]$/;
const harmless = Array.from({ length: 128 }, (_, code) => HARMLESS.test(String.fromCharCode(code)));
const needsEscape = /[^A-Za-z0-9 .,:;/()+\-*=#@!?%&$'"<>[\]{}|]/;

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));

/** The indicator that `^FH` sets: the first printable ASCII character. Line ends around it mean nothing. */
export function hexIndicator(params: string): string {
  return /[\x20-\x7e]/.exec(params)?.[0] ?? '_';
}

/** Bytes as escapes of `^FH`. */
export function hexEscapes(bytes: Iterable<number>, indicator: string): string {
  let text = '';
  for (const byte of bytes) text += indicator + digits[byte];
  return text;
}

/** One character of field data, or one escape with the byte that it stands for. */
interface FieldPiece {
  readonly text: string;
  readonly byte?: number;
}

/** Splits field data into characters and escapes. @param indicator of the field's `^FH`, if it has one */
export function* fieldPieces(text: string, indicator: string | undefined): Generator<FieldPiece> {
  for (let at = 0; at < text.length; ) {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const coded = char === indicator ? text.slice(at, at + 3) : '';
    if (/^[0-9A-Fa-f]{2}$/.test(coded.slice(1))) {
      yield { text: coded, byte: Number.parseInt(coded.slice(1), 16) };
      at += coded.length;
    } else {
      yield { text: char };
      at += char.length;
    }
  }
}

/** The bytes that field data stands for, with one character for each byte. Line ends in the data mean nothing. */
export function fieldBytes(data: Buffer, indicator: string | undefined): string {
  const pieces = Array.from(fieldPieces(data.toString('latin1').replace(/[\r\n]/g, ''), indicator));
  return pieces.map(({ text, byte }) => (byte === undefined ? text : String.fromCharCode(byte))).join('');
}

/** Reads bytes as UTF-8. If they are not, they are in the printer's own set, of which only ASCII is known here. */
export function readable(bytes: string): string {
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : bytes;
}

/**
 * The beginning of field data, changed so that it reads the same whatever follows it. Otherwise an indicator at its end would
 * make an escape of the next two characters.
 * @param indicator of the field's `^FH`
 */
export function closedData(text: string, indicator: string): string {
  const pieces = Array.from(fieldPieces(text, indicator), (piece) => piece.text);
  const open = (piece: string, at: number) => piece === indicator && at >= pieces.length - 2;
  return pieces.map((piece, at) => (open(piece, at) ? escapeFieldData(piece, indicator) : piece)).join('');
}

/**
 * Escapes a value as field data in UTF-8 (^CI28), for a field that has ^FH with `indicator`, so that the printer reads all of
 * the value as data. Lone surrogates become U+FFFD.
 * @param indicator one character, which is always escaped in the value
 */
export function escapeFieldData(value: string, indicator = '_'): string {
  if (indicator === '_' && !needsEscape.test(value)) return value;
  let escaped = '';
  for (const char of value.toWellFormed()) {
    const code = char.charCodeAt(0);
    if (char.length === 1 && harmless[code] === true && char !== indicator) escaped += char;
    else escaped += hexEscapes(Buffer.from(char, 'utf8'), indicator);
  }
  return escaped;
}

/** Candidates for the indicator of a field that has no ^FH, in order of preference. */
const INDICATORS = '_|@#$%=+;!"\'[]{}()<>abcdefghijklmnopqrstuvwxyz\\';
const CARET = 0x5e;
const TILDE = 0x7e;

/**
 * An `^FD` or `^FV` command that reads the same under any prefix, delimiter and encoding, because every byte that is not plain
 * text is escaped.
 * @param hex the indicator of the field's ^FH, if it has one
 */
export function plainField(name: string, data: Buffer, hex: string | undefined): string {
  const indicator = hex ?? [...INDICATORS].find((candidate) => !data.includes(candidate)) ?? '_';
  let escaped = hex !== undefined;
  let out = '';
  for (const byte of data) {
    if (byte === 0x0a || byte === 0x0d) continue;
    if (byte >= 0x20 && byte < TILDE && byte !== CARET) out += String.fromCharCode(byte);
    else {
      out += indicator + digits[byte];
      escaped = true;
    }
  }
  return `${escaped ? `^FH${indicator}` : ''}^${name}${out}`;
}
