/**
 * Draws one label of plain ZPL (as `labelZpl` writes it) as a picture of the media. The rasteriser is WebAssembly. A label
 * takes tens of milliseconds of uninterrupted work, so this belongs on a thread of its own. The module takes 95 MB once, so it
 * is loaded when it is first needed.
 */
import { setImmediate as yieldToCollector } from 'node:timers/promises';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { rasterise } from './rasteriser.ts';

/** The printable part of a label, and its media, dots. */
export interface LabelPage {
  readonly width: number;
  readonly length: number;
  readonly mediaWidth: number;
  readonly mediaHeight: number;
  readonly inverted: boolean;
  readonly mirrored: boolean;
}

const MARK = 8;
/** The rasteriser takes mm, and uses the resolution only to convert them to dots. At 8 dots/mm that is exact. */
const UNIT = 8;

/**
 * Draws the fields as a PNG. Undefined: nothing on the label leaves a mark.
 * @throws RasteriserFull; Error: the rasteriser cannot draw the label
 */
export async function drawFields(
  zpl: string,
  { width, length }: Pick<LabelPage, 'width' | 'length'>,
): Promise<Buffer | undefined> {
  try {
    const [picture] = await rasterise(zpl, width / UNIT, length / UNIT, UNIT);
    return picture === undefined ? undefined : Buffer.from(picture, 'base64');
  } catch (error) {
    if (String(error).includes('no labels parsed')) return undefined;
    throw error;
  }
}

function sizeOf(png: Buffer): { width: number; height: number } {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

/** Puts the picture on the media: cut to the printable part, turned and mirrored, and crossed out on request. */
export async function composeMedia(
  page: LabelPage,
  picture: Buffer | undefined,
  crossed: boolean,
): Promise<Buffer> {
  const { mediaWidth, mediaHeight, width, length } = page;
  if (picture && !crossed && !page.inverted && !page.mirrored) {
    const size = sizeOf(picture);
    if (size.width === mediaWidth && size.height === mediaHeight) return picture;
  }
  const canvas = createCanvas(mediaWidth, mediaHeight);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, mediaWidth, mediaHeight);
  if (picture) {
    const image = await loadImage(picture);
    context.save();
    context.imageSmoothingEnabled = false;
    // ^PO turns by 180°, ^PM mirrors left and right, both within the printable part.
    const flipX = page.inverted !== page.mirrored;
    context.translate(flipX ? width : 0, page.inverted ? length : 0);
    context.scale(flipX ? -1 : 1, page.inverted ? -1 : 1);
    context.drawImage(image, 0, 0, width, length, 0, 0, width, length);
    context.restore();
  }
  if (crossed) {
    context.strokeStyle = '#000';
    context.lineWidth = MARK;
    context.strokeRect(MARK / 2, MARK / 2, mediaWidth - MARK, mediaHeight - MARK);
    context.beginPath();
    context.moveTo(0, 0);
    context.lineTo(mediaWidth, mediaHeight);
    context.moveTo(mediaWidth, 0);
    context.lineTo(0, mediaHeight);
    context.stroke();
  }
  const png = await canvas.encode('png');
  // The drawing library frees its pictures only after a turn of the event loop.
  await yieldToCollector();
  return png;
}
