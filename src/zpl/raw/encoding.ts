/**
 * What the bytes of a raw template's fixed text mean. A template may be written for a code page (^CI), and its text
 * keeps it; values are Unicode, and where they are not ASCII their field is sent in UTF-8 (^CI28).
 *
 * Source: ZPL II Programming Guide, "^CI – Change International Font/Encoding", "^FH"; Zebra Code Page 850.
 */
import { because } from '../../contract/reason.ts';
import { fieldPieces, hexEscapes } from '../field-data.ts';
import { type RawCommand, rawFault } from './commands.ts';

/** A ^CI in force. */
export interface Encoding {
  /** What ^CI is given. */
  readonly set: string;
  /** The characters from 0x80 on; undefined: UTF-8, or not known. */
  readonly high: string | undefined;
}

const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
const WINDOWS: Readonly<Record<string, string>> = {
  27: 'windows-1252',
  31: 'windows-1250',
  33: 'windows-1251',
  34: 'windows-1253',
  35: 'windows-1254',
  36: 'windows-1255',
};

export const UTF8: Encoding = { set: '28', high: undefined };
/** What a printer has that was told nothing. */
export const POWER_ON: Encoding = { set: '0', high: CP850 };

/** @throws JobFaultError `template-invalid`: not every byte of ASCII is its character */
export function encodingOf({ params, line }: RawCommand): Encoding {
  const [, set = '', remapped] = /^\s*(\d*)\s*(,)?/.exec(params) ?? [];
  // Only sets of single bytes are remapped.
  if (set === '28') return UTF8;
  if (remapped !== undefined) throw unsupported(line);
  if (set === '0' || set === '13') return { set, high: CP850 };
  if (/^(?:27|3[1-6])$/.test(set)) return { set, high: windowsPage(WINDOWS[set]) };
  throw unsupported(line);
}

function unsupported(line: number): Error {
  return rawFault(because('zpl-encoding', {}), line);
}

function windowsPage(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  return new TextDecoder(label).decode(Uint8Array.from({ length: 128 }, (_, at) => 0x80 + at));
}

/**
 * The text of a program's file: UTF-8, or in the code page of its first ^CI; without one in that which a printer has at first.
 * Undefined: it is neither.
 */
export function programText(file: Uint8Array): string | undefined {
  const text = utf8Text(file);
  if (text !== undefined) return text;
  const latin = Buffer.from(file).toString('latin1');
  const set = /\^CI\s*(\d+)/i.exec(latin)?.[1] ?? POWER_ON.set;
  const high = set === '0' || set === '13' ? CP850 : windowsPage(WINDOWS[set]);
  if (high === undefined) return undefined;
  return latin.replace(/[\x80-\xff]/g, (char) => high.charAt(char.charCodeAt(0) - 0x80));
}

/** Fixed text of a field, piece by piece: ASCII as it stands, a run of bytes from 0x80 on, a character beyond ASCII. */
type Token = { readonly ascii: string } | { readonly bytes: readonly number[] } | { readonly char: string };

function tokens(text: string, indicator: string | undefined): Token[] {
  const found: Token[] = [];
  let ascii = '';
  let bytes: number[] = [];
  const flush = () => {
    if (ascii !== '') found.push({ ascii });
    if (bytes.length > 0) found.push({ bytes });
    ascii = '';
    bytes = [];
  };
  for (const piece of fieldPieces(text, indicator)) {
    const byte = piece.byte ?? 0;
    const isByte = byte >= 0x80;
    if (isByte ? ascii !== '' : bytes.length > 0) flush();
    if (isByte) bytes.push(byte);
    else if (piece.text > '\x7f') {
      flush();
      found.push({ char: piece.text });
    } else ascii += piece.text;
  }
  flush();
  return found;
}

/** Nothing but ASCII, in bytes and characters. */
export function isAscii(text: string, indicator: string | undefined): boolean {
  return tokens(text, indicator).every((token) => 'ascii' in token);
}

/** Are the bytes that ^FH gives UTF-8, and have to be read as such? */
export function escapesAreUtf8(text: string, indicator: string | undefined): boolean {
  return tokens(text, indicator).every((token) => !('bytes' in token) || utf8Text(token.bytes) !== undefined);
}

function utf8Text(bytes: Iterable<number>): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      bytes instanceof Uint8Array ? bytes : Uint8Array.from(bytes),
    );
  } catch {
    return undefined;
  }
}

/**
 * Fixed text in UTF-8, for a field with ^FH and `indicator`; undefined where a byte's character is not known.
 * @param guess bytes may be UTF-8 already
 */
export function inUtf8(
  text: string,
  indicator: string,
  { high }: Encoding,
  guess: boolean,
): string | undefined {
  let out = '';
  for (const token of tokens(text, indicator)) {
    if ('ascii' in token) out += token.ascii;
    else if ('char' in token) out += hexEscapes(Buffer.from(token.char, 'utf8'), indicator);
    else if (guess && utf8Text(token.bytes) !== undefined) out += hexEscapes(token.bytes, indicator);
    else {
      if (high === undefined) return undefined;
      const decoded = token.bytes.map((byte) => high.charAt(byte - 0x80)).join('');
      if (decoded.includes('\ufffd')) return undefined;
      out += hexEscapes(Buffer.from(decoded, 'utf8'), indicator);
    }
  }
  return out;
}

/** Fixed text whose characters beyond ASCII are bytes of the code page; undefined where it lacks one. */
export function inCodePage(text: string, indicator: string, { high }: Encoding): string | undefined {
  let out = '';
  for (const token of tokens(text, indicator)) {
    if ('ascii' in token) out += token.ascii;
    else if ('bytes' in token) out += hexEscapes(token.bytes, indicator);
    else {
      const at = high?.indexOf(token.char) ?? -1;
      if (at < 0) return undefined;
      out += hexEscapes([0x80 + at], indicator);
    }
  }
  return out;
}
