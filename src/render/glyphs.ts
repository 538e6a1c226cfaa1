/**
 * Which characters the packaged fonts have a glyph for, read from their `cmap` tables (OpenType 1.9, formats 4
 * and 12). The drawing library cannot be asked, and falls back to the host's fonts without a word.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { FONT_FILES } from './fonts.ts';

const CODE_POINTS = 0x110000;

/** One bit a code point; all families together, for every face can draw from all of them. */
let covered: Uint8Array | undefined;

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

function addRange(into: Uint8Array, first: number, last: number): void {
  for (let point = first; point <= last && point < CODE_POINTS; point++) {
    into[point >> 3] = (into[point >> 3] ?? 0) | (1 << (point & 7));
  }
}

function addCharacters(into: Uint8Array, cmap: Buffer): void {
  for (let entry = 4; entry < 4 + 8 * cmap.readUInt16BE(2); entry += 8) {
    const at = cmap.readUInt32BE(entry + 4);
    const format = cmap.readUInt16BE(at);
    if (format === 12) {
      for (let group = at + 16; group < at + 16 + 12 * cmap.readUInt32BE(at + 12); group += 12) {
        addRange(into, cmap.readUInt32BE(group), cmap.readUInt32BE(group + 4));
      }
    } else if (format === 4) {
      const size = cmap.readUInt16BE(at + 6);
      for (let segment = 0; segment < size; segment += 2) {
        const last = cmap.readUInt16BE(at + 14 + segment);
        const first = cmap.readUInt16BE(at + 16 + size + segment);
        // The last segment is 0xFFFF alone, and maps to no glyph.
        if (last !== 0xffff) addRange(into, first, last);
      }
    }
  }
}

function coverage(): Uint8Array {
  if (covered === undefined) {
    covered = new Uint8Array(CODE_POINTS / 8);
    for (const { path } of FONT_FILES) addCharacters(covered, readTable(path, 'cmap'));
  }
  return covered;
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** The first character of a text that no font has a glyph for, or null. Line ends are not looked at. */
export function missingGlyph(text: string): string | null {
  const table = coverage();
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    if (((table[point >> 3] ?? 0) & (1 << (point & 7))) !== 0) continue;
    if (char === '\n' || INVISIBLE.test(char)) continue;
    return char;
  }
  return null;
}
