/** Small fonts that are much work: refused before the drawing library, which cannot be stopped, begins with it. */
import { expect, test } from 'vitest';
import { readFontFile } from '../../src/render/text/font-file.ts';
import { INCONSOLATA, OCR_A, OCR_B } from '../kit/judges/sample-fonts.ts';

type Tables = ReadonlyMap<string, Buffer>;

function tablesOf(font: Buffer): Map<string, Buffer> {
  const entries = Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index);
  return new Map(
    entries.map((at) => {
      const offset = font.readUInt32BE(at + 8);
      return [
        font.toString('latin1', at, at + 4),
        font.subarray(offset, offset + font.readUInt32BE(at + 12)),
      ];
    }),
  );
}

function fontOf(tables: Iterable<readonly [string, Buffer]>): Buffer {
  const all = [...tables];
  const directory = Buffer.alloc(12 + 16 * all.length);
  directory.writeUInt32BE(0x10000, 0);
  directory.writeUInt16BE(all.length, 4);
  let offset = directory.length;
  for (const [index, [tag, bytes]] of all.entries()) {
    const at = 12 + 16 * index;
    directory.write(tag, at, 'latin1');
    directory.writeUInt32BE(offset, at + 8);
    directory.writeUInt32BE(bytes.length, at + 12);
    offset += bytes.length;
  }
  return Buffer.concat([directory, ...all.map(([, bytes]) => bytes)]);
}

function withTables(more: Record<string, Buffer>): Tables {
  return new Map([...tablesOf(OCR_B), ...Object.entries(more)]);
}

/** A composite glyph of these glyphs, unmoved; OpenType 1.9, "glyf". */
function composite(parts: readonly number[]): Buffer {
  const bytes = Buffer.alloc(10 + 6 * parts.length);
  bytes.writeInt16BE(-1, 0);
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    bytes.writeUInt16BE(last ? 0x2 : 0x22, 10 + 6 * index);
    bytes.writeUInt16BE(part, 12 + 6 * index);
  }
  return bytes;
}

/** OCR-B with other glyphs: `partsOf` says what each is made of. */
function composed(partsOf: (glyph: number) => readonly number[]): Tables {
  const tables = tablesOf(OCR_B);
  const count = tables.get('maxp')?.readUInt16BE(4) ?? 0;
  const glyphs = Array.from({ length: count }, (_, glyph) => {
    const parts = partsOf(glyph);
    return parts.length === 0 ? Buffer.alloc(0) : composite(parts);
  });
  const loca = Buffer.alloc(4 * (count + 1));
  let end = 0;
  for (const [glyph, { length }] of glyphs.entries()) {
    end += length;
    loca.writeUInt32BE(end, 4 * (glyph + 1));
  }
  const head = Buffer.from(tables.get('head') ?? []);
  head.writeInt16BE(1, 50);
  return withTables({ glyf: Buffer.concat(glyphs), loca, head });
}

const doubling = (deep: number) =>
  composed((glyph) => (glyph === 0 || glyph > deep ? [] : [glyph - 1, glyph - 1]));

/** OCR-B with an outline of so many points for each glyph, all in one contour. */
function pointed(points: number): Tables {
  const tables = tablesOf(OCR_B);
  const count = tables.get('maxp')?.readUInt16BE(4) ?? 0;
  const outline = Buffer.alloc(14 + 3 * points);
  outline.writeInt16BE(1, 0);
  outline.writeUInt16BE(points - 1, 10);
  const loca = Buffer.alloc(4 * (count + 1));
  for (let glyph = 1; glyph <= count; glyph++) loca.writeUInt32BE(outline.length, 4 * glyph);
  const head = Buffer.from(tables.get('head') ?? []);
  head.writeInt16BE(1, 50);
  return withTables({ glyf: outline, loca, head });
}

/** A character map whose many entries each lead to all of Unicode. */
function mapped(entries: number, subtables: number): Tables {
  const from = 4 + 8 * entries;
  const cmap = Buffer.alloc(from + 28 * subtables);
  cmap.writeUInt16BE(entries, 2);
  for (let entry = 0; entry < entries; entry++) {
    cmap.writeUInt16BE(3, 4 + 8 * entry);
    cmap.writeUInt16BE(10, 6 + 8 * entry);
    cmap.writeUInt32BE(from + 28 * (entry % subtables), 8 + 8 * entry);
  }
  for (let at = from; at < cmap.length; at += 28) {
    cmap.writeUInt16BE(12, at);
    cmap.writeUInt32BE(28, at + 4);
    cmap.writeUInt32BE(1, at + 12);
    cmap.writeUInt32BE(0x10ffff, at + 20);
    cmap.writeUInt32BE(1, at + 24);
  }
  return withTables({ cmap });
}

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
