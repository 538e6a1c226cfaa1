/**
 * Rewrites `^GF` and `~DG` for the rasteriser, which reads hexadecimal but no binary data, and draws the fill
 * `!` of Zebra's alternative compression wrongly.
 *
 * Source: ZPL II Programming Guide, ^GF, ~DG, "Alternative Data Compression Scheme".
 */
import { GraphicError, hexDigits, unpackRuns } from '../graphic-data.ts';

/** Splits off `count` comma-separated parameters; the rest is data. */
function split(params: Buffer, count: number): { fields: string[]; data: Buffer } {
  const fields: string[] = [];
  let from = 0;
  while (fields.length < count) {
    const comma = params.indexOf(0x2c, from);
    if (comma < 0) break;
    fields.push(params.subarray(from, comma).toString('latin1').trim());
    from = comma + 1;
  }
  return { fields, data: params.subarray(from) };
}

function ascii(data: Buffer): string {
  return data.toString('latin1').replace(/[^\x21-\x7d]/g, '');
}

/** Unpacks data that has the fill `!` to hexadecimal digits; other data stays as it is. */
function withoutFills(data: string, rowBytes: number): string {
  return data.startsWith(':') || !data.includes('!') ? data : unpackRuns(data, rowBytes);
}

/** The `^GF` command as the rasteriser reads it. Throws {@link GraphicError}. */
export function graphicField(params: Buffer): string {
  const { fields, data } = split(params, 4);
  const [kind = 'A', bytes = '', total = '', row = ''] = fields;
  if (kind.toUpperCase() === 'C') throw new GraphicError('^GFC is not drawn by the virtual printer');
  if (kind.toUpperCase() === 'B') {
    const raw = data.subarray(0, Number.parseInt(bytes, 10) || 0);
    return `^GFA,${raw.length},${total},${row},${hexDigits(raw)}`;
  }
  return `^GFA,${bytes},${total},${row},${withoutFills(ascii(data), Number.parseInt(row, 10))}`;
}

/** The name and `~DG` parameters of a downloaded graphic; undefined for a download that is no graphic. */
export function downloadedGraphic(
  name: string,
  params: Buffer,
): { object: string; rest: string } | undefined {
  if (name === 'DG') {
    const { fields, data } = split(params, 3);
    const [object = '', total = '', row = ''] = fields;
    return { object, rest: `${total},${row},${withoutFills(ascii(data), Number.parseInt(row, 10))}` };
  }
  if (name !== 'DY') return undefined;
  const { fields, data } = split(params, 5);
  const [object = '', kind = '', extension = '', total = '', row = ''] = fields;
  if (extension.toUpperCase() !== 'G') return undefined;
  if (kind.toUpperCase() === 'A') return { object, rest: `${total},${row},${ascii(data)}` };
  if (kind.toUpperCase() === 'B') return { object, rest: `${total},${row},${hexDigits(data)}` };
  return undefined;
}
