/**
 * Checks an untrusted font file (OpenType 1.9, "Organization of an OpenType Font") before the drawing library
 * gets it, so that a refused font has a reason. Points of glyphs are only counted (`glyph-outlines.ts`).
 */
import { because, type Reason } from '../../contract/reason.ts';
import { addCharacters, type Coverage, noCharacters } from './cmap.ts';
import { FontFault } from './font-fault.ts';
import { checkGlyphs } from './glyph-outlines.ts';

const REFUSED: ReadonlyMap<string, Reason> = new Map([
  ['wOFF', because('font-of-browsers', { kind: 'WOFF' })],
  ['wOF2', because('font-of-browsers', { kind: 'WOFF2' })],
  ['ttcf', because('font-collection', {})],
]);
/** TrueType outlines, Apple's way to say the same, and CFF outlines. */
const KINDS = new Set(['\0\x01\0\0', 'true', 'OTTO']);
const MOST_TABLES = 100;
/** Tables of pictures and drawings in colour. The library would unpack them, although the print is black. */
const COLOURED = ['COLR', 'CBDT', 'sbix', 'SVG '];
/** In `head`. */
const MAGIC = 0x5f0f3cf5;

/** The characters that a font has. @throws FontFault */
export function readFontFile(file: Buffer): Coverage {
  const tables = tablesOf(file);
  const table = (tag: string, least: number): Buffer => {
    const found = tables.get(tag);
    if (found === undefined || found.length < least)
      throw broken(`its table ${JSON.stringify(tag)} is missing or short`);
    return found;
  };
  if (COLOURED.some((tag) => tables.has(tag))) throw new FontFault(because('font-coloured', {}));
  const head = table('head', 54);
  const unitsPerEm = head.readUInt16BE(18);
  if (head.readUInt32BE(12) !== MAGIC || unitsPerEm < 16 || unitsPerEm > 16_384)
    throw broken('its "head" is none');
  const glyphs = table('maxp', 6).readUInt16BE(4);
  const widths = table('hhea', 36).readUInt16BE(34);
  if (widths === 0 || widths > glyphs) throw broken('it has no glyphs, or widths of glyphs that it has not');
  table('hmtx', 4 * widths + 2 * (glyphs - widths));
  // A font with both kinds of outlines may be drawn with either.
  if (!tables.has('CFF ') || tables.has('glyf')) {
    const [glyf, loca] = [table('glyf', 0), table('loca', 4)];
    inBounds('glyphs', () => checkGlyphs(glyf, loca, glyphs, head.readInt16BE(50) !== 0));
  }
  const characters = noCharacters();
  const cmap = table('cmap', 4);
  if (inBounds('characters', () => addCharacters(characters, cmap, glyphs))) return characters;
  throw new FontFault(because('font-symbols', {}));
}

function inBounds<T>(of: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw broken(`its table of ${of} is broken`);
    throw error;
  }
}

function broken(reason: string): FontFault {
  return new FontFault(because('font-broken', { detail: reason }));
}

function tablesOf(file: Buffer): Map<string, Buffer> {
  const kind = file.toString('latin1', 0, 4);
  const refusal = REFUSED.get(kind);
  if (refusal !== undefined) throw new FontFault(refusal);
  if (!KINDS.has(kind) || file.length < 12) throw new FontFault(because('font-kind', {}));
  const count = file.readUInt16BE(4);
  if (count > MOST_TABLES || file.length < 12 + 16 * count) throw broken('its list of tables is cut off');
  const tables = new Map<string, Buffer>();
  for (let entry = 12; entry < 12 + 16 * count; entry += 16) {
    const tag = file.toString('latin1', entry, entry + 4);
    const [offset, length] = [file.readUInt32BE(entry + 8), file.readUInt32BE(entry + 12)];
    if (offset + length > file.length) throw broken(`its table ${JSON.stringify(tag)} is cut off`);
    // It is not known which of the two the drawing library takes.
    if (tables.has(tag)) throw broken(`it has two tables ${JSON.stringify(tag)}`);
    tables.set(tag, file.subarray(offset, offset + length));
  }
  return tables;
}
