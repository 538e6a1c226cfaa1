/**
 * Composite glyphs (OpenType 1.9, "glyf"): outlines put together from those of other glyphs. The drawing library
 * follows them however often that is: of thirty glyphs, each the one before twice, the last would keep it busy for
 * hours. So what each glyph comes to is counted first, each glyph once.
 */

/** Glyphs that one glyph may come to: letters with their accents have a few. */
const MOST_PARTS = 100;

/** Flags of a component. */
const WORDS = 0x1;
const SCALE = 0x8;
const MORE = 0x20;
const TWO_SCALES = 0x40;
const TWO_BY_TWO = 0x80;

/**
 * @param long whether `loca` has offsets of four bytes
 * @throws RangeError for tables that are broken, or a glyph that comes to too many
 */
export function checkComposites(glyf: Buffer, loca: Buffer, glyphs: number, long: boolean): void {
  const offset = (glyph: number) => (long ? loca.readUInt32BE(4 * glyph) : 2 * loca.readUInt16BE(2 * glyph));
  const counted = new Map<number, number>();
  const count = (glyph: number, depth: number): number => {
    const known = counted.get(glyph);
    if (known !== undefined) return known;
    if (glyph >= glyphs) throw new RangeError('a part is no glyph of the font');
    const [from, to] = [offset(glyph), offset(glyph + 1)];
    if (from > to) throw new RangeError('the glyphs are out of order');
    let parts = 1;
    for (const part of partsOf(glyf.subarray(from, to))) {
      // Also where it comes back to itself.
      if (depth >= MOST_PARTS) throw new RangeError('glyphs within glyphs, too deep');
      parts += count(part, depth + 1);
      if (parts > MOST_PARTS) throw new RangeError('a glyph of too many parts');
    }
    counted.set(glyph, parts);
    return parts;
  };
  for (let glyph = 0; glyph < glyphs; glyph++) count(glyph, 0);
}

/** The glyphs that a glyph is put together from; none for one that has an outline of its own, or nothing. */
function* partsOf(glyph: Buffer): Generator<number> {
  if (glyph.length === 0 || glyph.readInt16BE(0) >= 0) return;
  for (let at = 10, flags = MORE; (flags & MORE) !== 0; ) {
    flags = glyph.readUInt16BE(at);
    yield glyph.readUInt16BE(at + 2);
    at += 4 + (flags & WORDS ? 4 : 2);
    at += flags & SCALE ? 2 : flags & TWO_SCALES ? 4 : flags & TWO_BY_TWO ? 8 : 0;
  }
}
