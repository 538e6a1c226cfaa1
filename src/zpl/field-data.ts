/**
 * Field data (`^FD`, `^FV`), and `^FH`, with which a field gives bytes as an indicator and two hexadecimal digits.
 *
 * Source: ZPL II Programming Guide, ^FD, and ^FH ("Field Hexadecimal Indicator").
 */

/** Sent as they are; `^` and `~` would start a command, a backslash breaks lines in ^FB, controls are eaten or obeyed. */
const HARMLESS = /^[A-Za-z0-9 .,:;/()+\-*=#@!?%&$'"<>[\]{}|]$/;
const harmless = Array.from({ length: 128 }, (_, code) => HARMLESS.test(String.fromCharCode(code)));
const needsEscape = /[^A-Za-z0-9 .,:;/()+\-*=#@!?%&$'"<>[\]{}|]/;

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));

/** The indicator that `^FH` names: its first printable character of ASCII; line ends around commands mean nothing. */
export function hexIndicator(params: string): string {
  return /[\x20-\x7e]/.exec(params)?.[0] ?? '_';
}

/** Bytes as escapes of `^FH`. */
export function hexEscapes(bytes: Iterable<number>, indicator: string): string {
  let text = '';
  for (const byte of bytes) text += indicator + digits[byte];
  return text;
}

/** A character of field data, or an escape and its byte. */
export interface FieldPiece {
  readonly text: string;
  readonly byte?: number;
}

/** @param indicator of the field's `^FH`, if it has one */
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

/**
 * A value as field data, in UTF-8 (^CI28), for a field that has ^FH with `indicator`: whatever it holds, the printer
 * reads it as data. Half surrogates become U+FFFD.
 * @param indicator one character; itself always escaped
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

/** Indicators to choose from, where a field has none. */
const INDICATORS = '_|@#$%=+;!"\'[]{}()<>abcdefghijklmnopqrstuvwxyz\\';
const CARET = 0x5e;
const TILDE = 0x7e;

/**
 * `^FD…` (or `^FV…`) that reads the same under any prefix, delimiter and encoding: every byte that is not plain text is
 * an escape.
 * @param hex the indicator of the ^FH in force for this field, if there is one
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
