/**
 * Reads and converts the encoding of a raw template's fixed text. A template may be written for a code page (^CI), and its
 * fixed text stays in that code page. Values are Unicode, and a field with a value beyond ASCII is sent in UTF-8 (^CI28).
 *
 * Source: ZPL II Programming Guide, "^CI – Change International Font/Encoding", "^FH"; Zebra Code Page 850.
 */
import { because } from '../../contract/reason.ts';
import { fieldPieces, hexEscapes } from '../field-data.ts';
import { hexGraphics } from './binary-graphics.ts';
import { type RawCommand, rawFault } from './commands.ts';

/** A ^CI in force. */
export interface Encoding {
  /** The parameter of ^CI. */
  readonly set: string;
  /** The characters from 0x80 on. Undefined: the encoding is UTF-8, or its characters are not known. */
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
/** A printer's default encoding. */
export const POWER_ON: Encoding = { set: '0', high: CP850 };

/** @throws JobFaultError `template-invalid`: not supported, because some ASCII bytes are other characters in it */
export function encodingOf({ params, line }: RawCommand): Encoding {
  const [, set = '', remapped] = /^\s*(\d*)\s*(,)?/.exec(params) ?? [];
  // Remapping applies to single-byte sets only.
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
 * Decodes a program's file as UTF-8. If it is not UTF-8, it is decoded in the code page of its first ^CI, or in the printer's
 * default code page if it has no ^CI. Undefined: the code page is not known.
 */
export function programText(file: Uint8Array): string | undefined {
  const latin = hexGraphics(Buffer.from(file).toString('latin1'));
  const text = utf8Text(Buffer.from(latin, 'latin1'));
  if (text !== undefined) return text;
  const set = /\^CI\s*(\d+)/i.exec(latin)?.[1] ?? POWER_ON.set;
  const high = set === '0' || set === '13' ? CP850 : windowsPage(WINDOWS[set]);
  if (high === undefined) return undefined;
  return latin.replace(/[\x80-\xff]/g, (char) => high.charAt(char.charCodeAt(0) - 0x80));
}

/** A piece of fixed text: ASCII as it stands, escaped bytes that are 0x80 or more, or a character beyond ASCII. */
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

/** Whether a text's characters and its escaped bytes are all ASCII. */
export function isAscii(text: string, indicator: string | undefined): boolean {
  return tokens(text, indicator).every((token) => 'ascii' in token);
}

/** Whether all bytes that are written as ^FH escapes are valid UTF-8. */
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
 * Converts fixed text to UTF-8, for a field with ^FH and `indicator`. Undefined: the character of a byte is not known.
 * @param guess true: bytes that are valid UTF-8 stay as they are
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

/** Converts characters beyond ASCII to bytes of the code page. Undefined: the code page lacks one of them. */
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
