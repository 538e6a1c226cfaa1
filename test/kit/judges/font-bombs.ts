/** Fonts made of OCR-B that are small and much work, or as much as is allowed. */
import { OCR_B } from './sample-fonts.ts';

export type Tables = ReadonlyMap<string, Buffer>;

export function tablesOf(font: Buffer): Map<string, Buffer> {
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

export function fontOf(tables: Iterable<readonly [string, Buffer]>): Buffer {
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

export function withTables(more: Record<string, Buffer>): Tables {
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
export function composed(partsOf: (glyph: number) => readonly number[]): Tables {
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

export const doubling = (deep: number) =>
  composed((glyph) => (glyph === 0 || glyph > deep ? [] : [glyph - 1, glyph - 1]));

/** OCR-B with an outline of so many points for each glyph, all in one contour. */
export function pointed(points: number): Tables {
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
export function mapped(entries: number, subtables: number): Tables {
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
