/**
 * `^GF` and `~DG` on their way to the rasteriser, which reads hexadecimal but no binary data, and gets the fill
 * `!` of Zebra's alternative compression wrong.
 *
 * Source: ZPL II Programming Guide, ^GF, ~DG, "Alternative Data Compression Scheme".
 */

/** The most bytes that one graphic may unpack to; 24 dots/mm, 4 × 12 inches. */
const MAX_GRAPHIC = 8 * 1024 * 1024;

/** Thrown for a graphic that cannot be drawn; the message says why. */
export class GraphicError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GraphicError';
  }
}

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

/** Hexadecimal without run lengths and fills, for data that has the fill `!`; other data stays as it is. */
function withoutFills(data: string, rowBytes: number): string {
  if (data.startsWith(':') || !data.includes('!')) return data;
  const row = rowBytes * 2;
  if (!(row > 0)) throw new GraphicError('a graphic with no bytes per row');
  const rows: string[] = [];
  let line = '';
  let run = 0;
  const end = () => {
    while (line.length >= row) {
      rows.push(line.slice(0, row));
      line = line.slice(row);
    }
    if (rows.length * rowBytes > MAX_GRAPHIC) throw new GraphicError('a graphic that is too large');
  };
  for (const char of data) {
    if (char >= 'G' && char <= 'Y') run += char.charCodeAt(0) - 0x46;
    else if (char >= 'g' && char <= 'z') run += (char.charCodeAt(0) - 0x66) * 20;
    else {
      if (char === ',') line = line.padEnd(row, '0');
      else if (char === '!') line = line.padEnd(row, 'F');
      else if (char === ':') line = rows.at(-1) ?? ''.padEnd(row, '0');
      else line += char.repeat(Math.min(run || 1, MAX_GRAPHIC));
      run = 0;
      end();
    }
  }
  return rows.join('') + line;
}

/** The `^GF` command as the rasteriser reads it. Throws {@link GraphicError}. */
export function graphicField(params: Buffer): string {
  const { fields, data } = split(params, 4);
  const [kind = 'A', bytes = '', total = '', row = ''] = fields;
  if (kind.toUpperCase() === 'C') throw new GraphicError('^GFC is not drawn by the virtual printer');
  if (kind.toUpperCase() === 'B') {
    const raw = data.subarray(0, Number.parseInt(bytes, 10) || 0);
    return `^GFA,${raw.length},${total},${row},${raw.toString('hex').toUpperCase()}`;
  }
  return `^GFA,${bytes},${total},${row},${withoutFills(ascii(data), Number.parseInt(row, 10))}`;
}

/** The object and the `~DG` that define a downloaded graphic; undefined for a download that is no graphic. */
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
  if (kind.toUpperCase() === 'B')
    return { object, rest: `${total},${row},${data.toString('hex').toUpperCase()}` };
  return undefined;
}
