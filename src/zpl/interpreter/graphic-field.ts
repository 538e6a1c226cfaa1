/**
 * Rewrites `^GF` and `~DG` with hexadecimal data, because the rasteriser cannot read binary data, draws the fill `!` of Zebra's
 * alternative compression wrongly, and unpacks Z64 without a limit.
 *
 * Source: ZPL II Programming Guide, ^GF, ~DG, "Alternative Data Compression Scheme".
 */
import { GraphicError, GraphicTooLarge, hexDigits, unpackGraphic } from '../graphic-data.ts';

/** Splits off `count` comma-separated parameters; the rest is data. */
export function split(params: Buffer, count: number): { fields: string[]; data: Buffer } {
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

/** The data without line ends and other bytes that mean nothing. */
export function ascii(data: Buffer): string {
  return data.toString('latin1').replace(/[^\x21-\x7d]/g, '');
}

/**
 * The most dots that all graphics of a label may have together, each in the size that it is printed in. The rasteriser needs up
 * to eight bytes for each dot, and takes no single graphic with more.
 */
const MOST_DOTS = 8 * 3 * 1024 * 1024;

/** How much room a label has left for graphics. */
export class GraphicRoom {
  #dots: number;

  constructor(dots = MOST_DOTS) {
    this.#dots = dots;
  }

  /** The most bytes that one more graphic may unpack to. */
  get bytes(): number {
    return Math.ceil(this.#dots / 8);
  }

  /** @throws GraphicTooLarge */
  draw(dots: number): void {
    if (dots > this.#dots) throw new GraphicTooLarge();
    this.#dots -= dots;
  }
}

/** The `^GF` command as the rasteriser reads it. @throws GraphicError */
export function graphicField(params: Buffer, room: GraphicRoom): string {
  const { fields, data } = split(params, 4);
  const [kind = 'A', bytes = '', total = '', row = ''] = fields;
  if (kind.toUpperCase() === 'C')
    throw new GraphicError('^GFC is not drawn: how its data are compressed is not published');
  const binary = kind.toUpperCase() === 'B';
  const digits = binary
    ? digitsOf(data.subarray(0, Number.parseInt(bytes, 10) || 0), room.bytes)
    : unpackGraphic(ascii(data), Number.parseInt(row, 10), room.bytes);
  room.draw(4 * digits.length);
  return `^GFA,${binary ? digits.length / 2 : bytes},${total},${row},${digits}`;
}

function digitsOf(data: Buffer, most: number): string {
  if (data.length > most) throw new GraphicTooLarge();
  return hexDigits(data);
}

interface DownloadedGraphic {
  readonly object: string;
  /** The parameters of `~DG` after the name. */
  readonly rest: string;
  readonly dots: number;
}

/** The graphic that a download command brings; undefined for a download that is no graphic. @throws GraphicError */
export function downloadedGraphic(
  name: string,
  params: Buffer,
  room: GraphicRoom,
): DownloadedGraphic | undefined {
  const isGraphic = name === 'DG';
  if (!isGraphic && name !== 'DY') return undefined;
  const { fields, data } = split(params, isGraphic ? 3 : 5);
  const [object = '', ...more] = fields;
  const [kind = '', extension = '', total = '', row = ''] = isGraphic ? ['A', 'G', ...more] : more;
  if (extension.toUpperCase() !== 'G') return undefined;
  const binary = kind.toUpperCase() === 'B';
  if (!binary && kind.toUpperCase() !== 'A') {
    throw new GraphicError('~DY is not drawn with data of that format');
  }
  const digits = binary
    ? digitsOf(data, room.bytes)
    : unpackGraphic(ascii(data), Number.parseInt(row, 10), room.bytes);
  room.draw(4 * digits.length);
  return { object, rest: `${total},${row},${digits}`, dots: 4 * digits.length };
}
