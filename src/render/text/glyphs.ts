/** Finds characters that no font has. The drawing library cannot be asked for that: it silently takes the host's fonts. */

import { closeSync, openSync, readSync } from 'node:fs';
import { because, type Reason } from '../../contract/reason.ts';
import { addCharacters, type Coverage, covers, noCharacters } from './cmap.ts';
import { absentFont, FONT_FILES } from './fonts.ts';

/** The characters of all packaged families together, because every face can draw from all of them. */
let packaged: Coverage | undefined;

function readTable(path: string, wanted: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const read = (length: number, position: number): Buffer => {
      const buffer = Buffer.alloc(length);
      readSync(file, buffer, 0, length, position);
      return buffer;
    };
    const tables = read(12, 0).readUInt16BE(4);
    const directory = read(16 * tables, 12);
    for (let entry = 0; entry < directory.length; entry += 16) {
      if (directory.toString('latin1', entry, entry + 4) !== wanted) continue;
      return read(directory.readUInt32BE(entry + 12), directory.readUInt32BE(entry + 8));
    }
  } finally {
    closeSync(file);
  }
  throw new Error(`The font ${path} has no ${wanted} table`);
}

function packagedCharacters(): Coverage {
  if (packaged === undefined) {
    packaged = noCharacters();
    for (const { path } of FONT_FILES) {
      addCharacters(packaged, readTable(path, 'cmap'), readTable(path, 'maxp').readUInt16BE(4));
    }
  }
  return packaged;
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * The first character of a text that no font has a glyph for, or null.
 * @param own what the text's own font has, besides the packaged ones
 */
export function missingGlyph(text: string, own?: Coverage): string | null {
  return firstWithout(text, own === undefined ? [packagedCharacters()] : [own, packagedCharacters()]);
}

/** The first visible character of a text that none of the fonts has, or null. */
export function firstWithout(text: string, fonts: readonly Coverage[]): string | null {
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    if (fonts.some((font) => covers(font, point))) continue;
    if (char === '\n' || INVISIBLE.test(char)) continue;
    return char;
  }
  return null;
}

/** Why a character that `missingGlyph` found cannot be set, and what to do about it. */
export function noGlyph(char: string): Reason {
  const font = absentFont(char);
  if (font === null) return because('no-glyph', { character: codePoint(char) });
  return because('font-absent', { character: codePoint(char), font });
}

/** `U+00E4`: a character as an error names it. */
export function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
