/**
 * Files that `~DU` and `~DY` bring: TrueType fonts and PNG pictures. They come from strangers, so only their sizes are read
 * here. The renderer reads the rest when the label is drawn.
 *
 * Source: ZPL II Programming Guide, ~DU and ~DY; W3C Portable Network Graphics, 11.2.2.
 */
import { GraphicError, GraphicTooLarge, unpackGraphic } from '../graphic-data.ts';
import { objectName } from '../names.ts';
import { ascii, split } from './graphic-field.ts';

/** The most bytes of a file. */
const MOST_BYTES = 2 * 1024 * 1024;
/** The most dots of a picture. Labels have fewer. */
const MOST_DOTS = 16_000_000;

/** A file in a printer's memory. */
export type StoredFile =
  | { readonly kind: 'font'; readonly file: Uint8Array; readonly bytes: number }
  | {
      readonly kind: 'picture';
      readonly file: Uint8Array;
      readonly width: number;
      readonly height: number;
      readonly bytes: number;
    };

/** The file that a download command brings, and its name. Undefined: it brings a graphic. @throws GraphicError */
export function downloadedFile(
  name: string,
  params: Buffer,
): { readonly object: string; readonly stored: StoredFile } | undefined {
  if (name === 'DU') {
    const { fields, data } = split(params, 2);
    const file = fileOf(data, 'A', fields[1]);
    return { object: objectName(fields[0] ?? '', 'FNT'), stored: font(file) };
  }
  if (/^D[BST]$/.test(name)) {
    throw new GraphicError(`~${name} is not drawn: of fonts only the TrueType ones of ~DU and ~DY are`);
  }
  if (name !== 'DY') return undefined;
  const { fields, data } = split(params, 5);
  const [object = '', format = '', extension = '', total] = fields;
  const kind = extension.toUpperCase();
  if (kind === 'G') return undefined;
  if (kind === 'T') return { object: objectName(object, 'TTF'), stored: font(fileOf(data, format, total)) };
  if (kind === 'P') return { object: objectName(object, 'PNG'), stored: png(fileOf(data, format, total)) };
  throw new GraphicError(`~DY is not drawn with objects of kind ${/^\w{1,3}$/.test(kind) ? kind : 'that'}`);
}

/** @param format of `~DY`: A and P are hexadecimal digits or base64, B is bytes @param total how many bytes, by the command */
function fileOf(data: Buffer, format: string, total: string | undefined): Buffer {
  if (!/^[ABP]$/i.test(format)) throw new GraphicError('~DY is not drawn with data of that format');
  const said = Number.parseInt(total ?? '', 10);
  if (said > MOST_BYTES || data.length > 3 * MOST_BYTES) throw new GraphicTooLarge();
  if (format.toUpperCase() === 'B') return data.subarray(0, said || 0);
  const text = ascii(data);
  if (!text.startsWith(':') && (text.length % 2 !== 0 || /[^0-9A-Fa-f]/.test(text))) {
    throw new GraphicError('a file whose digits are broken');
  }
  const file = Buffer.from(unpackGraphic(text, 0, MOST_BYTES), 'hex');
  return said > 0 ? file.subarray(0, said) : file;
}

function font(file: Buffer): StoredFile {
  if (file.length === 0) throw new GraphicError('a font without data');
  return { kind: 'font', file, bytes: file.length };
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Where IHDR has width and height. */
const WIDTH = 16;
const HEIGHT = 20;

function png(file: Buffer): StoredFile {
  if (file.length < HEIGHT + 4 || !file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) {
    throw new GraphicError('a picture of ~DY that is no PNG');
  }
  const [width, height] = [file.readUInt32BE(WIDTH), file.readUInt32BE(HEIGHT)];
  if (width * height > MOST_DOTS) throw new GraphicTooLarge();
  return { kind: 'picture', file, width, height, bytes: file.length };
}
