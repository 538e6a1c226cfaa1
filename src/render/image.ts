/** Pictures on a label: decoded once, scaled to printer dots, made black and white. */
import { createCanvas, type Image, loadImage } from '@napi-rs/canvas';
import type { ImageElement } from '../contract/template.ts';
import { type Bitmap, blacken, createBitmap, turnBitmap } from './bitmap.ts';
import { dots, type Item } from './display-list.ts';
import { ElementFault, type ElementPlace } from './place.ts';
import { upright } from './turn.ts';

/** Of what a template may embed; the picture's own size is not the label's. */
const MOST_PIXELS = 50_000_000;

/** @throws ElementFault `template-invalid`: not a picture, or too large */
export async function imageItems(element: ImageElement, place: ElementPlace, dpi: number): Promise<Item[]> {
  const picture = await decode(element.data, place);
  const width = Math.max(1, dots(element.width, dpi));
  const height = Math.max(1, dots(element.height, dpi));
  const inner = upright({ width, height }, element.rotation);
  const bitmap = turnBitmap(halftone(picture, inner, element), element.rotation);
  return [{ kind: 'bitmap', x: dots(element.x, dpi), y: dots(element.y, dpi), bitmap, scale: 1 }];
}

async function decode(data: string, place: ElementPlace): Promise<Image> {
  const bytes = Buffer.from(data, 'base64');
  const png = bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'));
  const jpeg = bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'));
  // Nothing else is handed to the decoder: SVG could ask for other files.
  if (!png && !jpeg) throw new ElementFault('template-invalid', place, 'the picture is neither PNG nor JPEG');
  try {
    const image = await loadImage(bytes);
    if (image.width > 0 && image.width * image.height <= MOST_PIXELS) return image;
  } catch {
    throw new ElementFault('template-invalid', place, 'the picture cannot be decoded');
  }
  throw new ElementFault('template-invalid', place, `the picture has more than ${MOST_PIXELS} pixels`);
}

function halftone(
  picture: Image,
  box: { width: number; height: number },
  { fit, halftone: method }: Pick<ImageElement, 'fit' | 'halftone'>,
): Bitmap {
  const { width, height } = box;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  const across = width / picture.width;
  const down = height / picture.height;
  const scale = fit === 'contain' ? Math.min(across, down) : Math.max(across, down);
  const [drawnWidth, drawnHeight] = [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, (width - drawnWidth) / 2, (height - drawnHeight) / 2, drawnWidth, drawnHeight);

  const rgba = context.getImageData(0, 0, width, height).data;
  const grey = new Float32Array(width * height);
  for (let at = 0; at < grey.length; at++) {
    // ITU-R BT.601 luma.
    grey[at] =
      0.299 * (rgba[4 * at] ?? 0) + 0.587 * (rgba[4 * at + 1] ?? 0) + 0.114 * (rgba[4 * at + 2] ?? 0);
  }
  const bitmap = createBitmap(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const level = grey[at] ?? 255;
      const black = level < 128;
      if (black) blacken(bitmap, x, y);
      if (method === 'dither') spread(grey, width, height, x, y, level - (black ? 0 : 255));
    }
  }
  return bitmap;
}

/** Floyd–Steinberg: the error goes to the neighbours that come later. */
function spread(
  grey: Float32Array,
  width: number,
  height: number,
  x: number,
  y: number,
  error: number,
): void {
  const add = (column: number, row: number, share: number): void => {
    if (column < 0 || column >= width || row >= height) return;
    const at = row * width + column;
    grey[at] = (grey[at] ?? 0) + (error * share) / 16;
  };
  add(x + 1, y, 7);
  add(x - 1, y + 1, 3);
  add(x, y + 1, 5);
  add(x + 1, y + 1, 1);
}
