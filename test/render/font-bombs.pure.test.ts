/** Small fonts that are much work: refused before the drawing library, which cannot be stopped, begins with it. */
import { expect, test } from 'vitest';
import { readFontFile } from '../../src/render/text/font-file.ts';
import {
  composed,
  doubling,
  fontOf,
  mapped,
  pointed,
  tablesOf,
  withTables,
} from '../kit/judges/font-bombs.ts';
import { INCONSOLATA, OCR_A, OCR_B } from '../kit/judges/sample-fonts.ts';

test('what real fonts have is no bomb', () => {
  for (const font of [OCR_A, OCR_B, INCONSOLATA]) expect(readFontFile(font)).toBeInstanceOf(Uint8Array);
  expect(readFontFile(fontOf(tablesOf(OCR_B)))).toBeInstanceOf(Uint8Array);
  expect(readFontFile(fontOf(doubling(4)))).toBeInstanceOf(Uint8Array);
  expect(readFontFile(fontOf(mapped(20, 8)))).toBeInstanceOf(Uint8Array);
  expect(readFontFile(fontOf(pointed(5_000)))).toBeInstanceOf(Uint8Array);
});

const GLYPHS = 'it is broken: its table of glyphs is broken';
test.each<[what: string, tables: Iterable<readonly [string, Buffer]>, message: string]>([
  ['glyphs that double', doubling(40), GLYPHS],
  ['a glyph of itself', composed((glyph) => [glyph]), GLYPHS],
  ['two glyphs of each other', composed((glyph) => [glyph ^ 1]), GLYPHS],
  ['a chain from the front', composed((glyph) => (glyph < 150 ? [glyph + 1] : [])), GLYPHS],
  ['a part that is no glyph', composed(() => [60_000]), GLYPHS],
  ['glyphs that double, with CFF beside them', [...doubling(40), ['CFF ', Buffer.alloc(100)]], GLYPHS],
  [
    'two tables of glyphs',
    [...doubling(40), ['glyf', tablesOf(OCR_B).get('glyf') ?? Buffer.alloc(0)]],
    'it is broken: it has two tables "glyf"',
  ],
  ['a glyph of many points', pointed(60_000), 'a glyph has more than 5000 points'],
  ['character maps', mapped(9, 9), 'it is broken: its table of characters is broken'],
  ['colours', withTables({ COLR: Buffer.alloc(4) }), 'it is a colour font: expected outlines'],
])('%s', (_, tables, message) => {
  expect(() => readFontFile(fontOf(tables))).toThrow(expect.objectContaining({ name: 'FontFault', message }));
});

test('entries for one character map read it once', () => {
  // Each of them read would take minutes, and the test its time.
  expect(readFontFile(fontOf(mapped(40_000, 1)))).toBeInstanceOf(Uint8Array);
});
