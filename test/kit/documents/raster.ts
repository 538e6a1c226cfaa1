/** PWG Raster (PWG 5102.4) written by hand: the fields of the header one by one, and rows as they are given. */

const HEADER = 1796;
/** Where each field of the header stands. */
const FIELDS = {
  across: 276,
  down: 280,
  copies: 340,
  width: 372,
  height: 376,
  bits: 384,
  pixel: 388,
  stride: 392,
  order: 396,
  space: 400,
} as const;

export type RasterFields = Partial<Record<keyof typeof FIELDS, number>>;

/** Eight bits of sGray a pixel at 203 dpi, where nothing else is said. */
export function rasterPage(fields: RasterFields, rows: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write('PwgRaster', 'latin1');
  const { width = 8, bits = 8, pixel = bits } = fields;
  const usual = { across: 203, down: 203, copies: 1, height: 8, order: 0, space: 18 };
  const all: Readonly<Record<string, number>> = {
    ...usual,
    ...{ width, bits, pixel, stride: Math.ceil((width * pixel) / 8) },
    ...fields,
  };
  for (const [name, at] of Object.entries(FIELDS)) header.writeUInt32BE(all[name] ?? 0, at);
  return Buffer.concat([header, rows]);
}

export function rasterOf(...pages: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from('RaS2', 'latin1'), ...pages]);
}

/** A row as it is, and how often it comes. */
export function row(times: number, ...bytes: number[]): Buffer {
  return Buffer.from([times - 1, ...bytes.flatMap((byte) => [0, byte])]);
}

/** A page of white, which is as small as one of its size can be. */
export function whitePage(width: number, height: number, fields: RasterFields = {}): Buffer {
  const runs: number[] = [];
  for (let left = width; left > 0; left -= 128) runs.push(Math.min(128, left) - 1, 0xff);
  const rows: number[] = [];
  for (let left = height; left > 0; left -= 256) rows.push(Math.min(256, left) - 1, ...runs);
  return rasterPage({ width, height, ...fields }, Buffer.from(rows));
}
