/**
 * Limits the points of a font's glyphs (OpenType 1.9, "glyf"), including those of the glyphs that a composite is made of. The
 * drawing library follows all points, however many, and again for each text that it measures. If each of thirty glyphs were
 * made of two copies of the one before, the last would keep the library busy for hours. So the points are counted first, each
 * glyph's once.
 */

import { because } from '../../contract/reason.ts';
import { FontFault } from './font-fault.ts';

/** The most glyphs that one glyph may be made of: letters with accents have a few. */
const MOST_PARTS = 100;
/** The most points of one glyph: the most detailed of the packaged emoji has 2,500. */
const MOST_POINTS = 5_000;

interface Extent {
  readonly parts: number;
  readonly points: number;
}

/** Flags of a component. */
const WORDS = 0x1;
const SCALE = 0x8;
const MORE = 0x20;
const TWO_SCALES = 0x40;
const TWO_BY_TWO = 0x80;

/**
 * @param long whether `loca` has offsets of four bytes
 * @throws FontFault for a glyph of too many points; RangeError for one of too many parts, or broken tables
 */
export function checkGlyphs(glyf: Buffer, loca: Buffer, glyphs: number, long: boolean): void {
  const offset = (glyph: number) => (long ? loca.readUInt32BE(4 * glyph) : 2 * loca.readUInt16BE(2 * glyph));
  const counted = new Map<number, Extent>();
  const count = (glyph: number, depth: number): Extent => {
    const known = counted.get(glyph);
    if (known !== undefined) return known;
    if (glyph >= glyphs) throw new RangeError('a part is no glyph of the font');
    const [from, to] = [offset(glyph), offset(glyph + 1)];
    if (from > to) throw new RangeError('the glyphs are out of order');
    const outline = glyf.subarray(from, to);
    let parts = 1;
    let points = pointsOf(outline);
    for (const part of partsOf(outline)) {
      // This also stops glyphs that contain themselves.
      if (depth >= MOST_PARTS) throw new RangeError('glyphs within glyphs, too deep');
      const its = count(part, depth + 1);
      parts += its.parts;
      points += its.points;
      if (parts > MOST_PARTS) throw new RangeError('a glyph of too many parts');
    }
    if (points > MOST_POINTS) throw new FontFault(because('font-points', { most: MOST_POINTS }));
    counted.set(glyph, { parts, points });
    return { parts, points };
  };
  for (let glyph = 0; glyph < glyphs; glyph++) count(glyph, 0);
}

/** Points of a glyph's own outline: one more than the highest number of a contour's last point. */
function pointsOf(glyph: Buffer): number {
  const contours = glyph.length === 0 ? 0 : glyph.readInt16BE(0);
  let points = 0;
  for (let contour = 0; contour < contours; contour++) {
    points = Math.max(points, glyph.readUInt16BE(10 + 2 * contour) + 1);
  }
  return points;
}

/** The glyphs that a composite is made of; none for a glyph with an outline of its own, or an empty one. */
function* partsOf(glyph: Buffer): Generator<number> {
  if (glyph.length === 0 || glyph.readInt16BE(0) >= 0) return;
  for (let at = 10, flags = MORE; (flags & MORE) !== 0; ) {
    flags = glyph.readUInt16BE(at);
    yield glyph.readUInt16BE(at + 2);
    at += 4 + (flags & WORDS ? 4 : 2);
    at += flags & SCALE ? 2 : flags & TWO_SCALES ? 4 : flags & TWO_BY_TWO ? 8 : 0;
  }
}
