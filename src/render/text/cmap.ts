/**
 * Reads from a font's `cmap` table which characters it has a glyph for (OpenType 1.9: the Unicode subtables in formats 4 and
 * 12). A table may be hostile: ranges that do not end, or go back, are refused.
 */

const CODE_POINTS = 0x110000;

/** The most subtables that are read: fonts have about three, and each may cover all of Unicode. */
const MOST_SUBTABLES = 8;

/** One bit for each code point. */
export type Coverage = Uint8Array;

export function noCharacters(): Coverage {
  return new Uint8Array(CODE_POINTS / 8);
}

export function covers(coverage: Coverage, point: number): boolean {
  return ((coverage[point >> 3] ?? 0) & (1 << (point & 7))) !== 0;
}

/** Platform 0 is Unicode, where encoding 5 is variation sequences. Platform 3 is Windows: 1 is the BMP, 10 all of Unicode. */
function isUnicode(platform: number, encoding: number): boolean {
  return (platform === 0 && encoding !== 5) || (platform === 3 && (encoding === 1 || encoding === 10));
}

/**
 * Adds the characters of a font.
 * @param glyphs how many glyphs the font has
 * @returns false: it has no Unicode table that can be read
 * @throws RangeError for a table that is broken
 */
export function addCharacters(into: Coverage, cmap: Buffer, glyphs: number): boolean {
  const add = (point: number, glyph: number): void => {
    if (glyph <= 0 || glyph >= glyphs || point >= CODE_POINTS) return;
    into[point >> 3] = (into[point >> 3] ?? 0) | (1 << (point & 7));
  };
  // Several entries may refer to one subtable.
  const read = new Set<number>();
  let found = false;
  for (let entry = 4; entry < 4 + 8 * cmap.readUInt16BE(2); entry += 8) {
    if (!isUnicode(cmap.readUInt16BE(entry), cmap.readUInt16BE(entry + 2))) continue;
    const offset = cmap.readUInt32BE(entry + 4);
    if (read.has(offset)) continue;
    if (read.add(offset).size > MOST_SUBTABLES) throw new RangeError('cmap has too many subtables');
    const table = cmap.subarray(offset);
    const format = table.readUInt16BE(0);
    if (format === 12) addGroups(table, add);
    else if (format === 4) addSegments(table, add);
    found ||= format === 12 || format === 4;
  }
  return found;
}

type Add = (point: number, glyph: number) => void;

/** Requires ranges to go up, so that all of them together are no longer than Unicode. */
function rising(first: number, last: number, before: number): void {
  if (first <= before || last < first || last >= CODE_POINTS) throw new RangeError('cmap is out of order');
}

function addGroups(table: Buffer, add: Add): void {
  const groups = table.readUInt32BE(12);
  let before = -1;
  for (let group = 16; group < 16 + 12 * groups; group += 12) {
    const [first, last] = [table.readUInt32BE(group), table.readUInt32BE(group + 4)];
    const glyph = table.readUInt32BE(group + 8);
    rising(first, last, before);
    for (let point = first; point <= last; point++) add(point, glyph + point - first);
    before = last;
  }
}

function addSegments(table: Buffer, add: Add): void {
  const size = table.readUInt16BE(6);
  let before = -1;
  for (let segment = 0; segment < size; segment += 2) {
    const last = table.readUInt16BE(14 + segment);
    const first = table.readUInt16BE(16 + size + segment);
    // The last segment is 0xFFFF alone, and maps to no glyph.
    if (last === 0xffff) continue;
    const delta = table.readUInt16BE(16 + 2 * size + segment);
    const at = 16 + 3 * size + segment;
    const offset = table.readUInt16BE(at);
    rising(first, last, before);
    for (let point = first; point <= last; point++) {
      const glyph = offset === 0 ? point : table.readUInt16BE(at + offset + 2 * (point - first));
      add(point, glyph === 0 ? 0 : (glyph + delta) & 0xffff);
    }
    before = last;
  }
}
