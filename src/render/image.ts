/** Pictures on a label: decoded once, scaled to printer dots, made black and white. */
import { createCanvas, type Image, loadImage } from '@napi-rs/canvas';
import type { ImageElement, NamedImage } from '../contract/template.ts';
import { type Bitmap, blacken, createBitmap, turnBitmap } from './bitmap.ts';
import type { Scope } from './built-ins.ts';
import { dots, type Item } from './display-list.ts';
import { compileText } from './merge.ts';
import { ElementFault, type ElementLayout, type ElementPlace } from './place.ts';
import { svgRefusal } from './svg.ts';
import { upright } from './turn.ts';

/** Of what a template may embed; the picture's own size is not the label's. */
const MOST_PIXELS = 50_000_000;

/** A template's named pictures, each decoded when it is first asked for. */
export interface ImageSet {
  readonly names: readonly string[];
  /** @throws PictureFault */
  decode(name: string): Promise<Picture>;
}

/** A picture that cannot be drawn, whoever uses it. */
export class PictureFault extends Error {
  override readonly name = 'PictureFault';
}

interface Picture {
  readonly image: Image;
  /** A drawing: sharp at any size. */
  readonly vector: boolean;
}

export function createImageSet(images: readonly NamedImage[]): ImageSet {
  const decoded = new Map<string, Promise<Picture>>();
  const data = new Map(images.map((image) => [image.name, image.data]));
  return {
    names: [...data.keys()],
    decode: (name) => {
      const known = decoded.get(name) ?? decode(data.get(name) ?? '');
      decoded.set(name, known);
      return known;
    },
  };
}

/** @throws ElementFault `template-invalid`: not a picture, too large, or not in the set */
export async function imageLayout(
  element: ImageElement,
  place: ElementPlace,
  dpi: number,
  scope: Scope,
  images: ImageSet,
): Promise<ElementLayout> {
  const { data, image } = element;
  if ((data === undefined) === (image === undefined)) {
    throw new ElementFault('template-invalid', place, 'an image has either "data" or "image"');
  }
  const name = compileText(image ?? '', scope, `${place.pointer}/image`);
  const constant = name.fields.length === 0 ? name.fill({}) : undefined;
  const usable = new Map<string, Picture>();
  const take = async (key: string, picture: Promise<Picture>) => {
    usable.set(key, await picture.catch((error) => refuse(error, place)));
  };
  if (data !== undefined) await take('', decode(data));
  else {
    // Any of them may be chosen, and layout does not wait.
    for (const key of images.names) {
      if (constant === undefined || constant === key) await take(key, images.decode(key));
    }
    if (constant !== undefined && constant !== '' && !usable.has(constant)) {
      throw new ElementFault(
        'template-invalid',
        place,
        `the template has no image ${JSON.stringify(constant)}`,
      );
    }
  }
  const nothing: Item[] = [];
  // Drawn once each, at its first use; the same items ever after.
  const drawn = new Map<string, Item[]>();
  return {
    fields: name.fields,
    layout: (record) => {
      const key = name.fill(record).trim();
      const known = drawn.get(key);
      if (known !== undefined) return known;
      const chosen = usable.get(key);
      if (chosen === undefined) {
        if (key === '') return nothing;
        throw new ElementFault('value-invalid', place, 'the template has no image of the name in the record');
      }
      const items = imageItems(chosen, element, dpi);
      drawn.set(key, items);
      return items;
    },
  };
}

function refuse(error: unknown, place: ElementPlace): never {
  if (error instanceof PictureFault) throw new ElementFault('template-invalid', place, error.message);
  throw error;
}

function imageItems(picture: Picture, element: ImageElement, dpi: number): Item[] {
  const width = Math.max(1, dots(element.width, dpi));
  const height = Math.max(1, dots(element.height, dpi));
  const inner = upright({ width, height }, element.rotation);
  const bitmap = turnBitmap(halftone(picture, inner, element), element.rotation);
  return [{ kind: 'bitmap', x: dots(element.x, dpi), y: dots(element.y, dpi), bitmap, scale: 1 }];
}

async function decode(data: string): Promise<Picture> {
  const bytes = Buffer.from(data, 'base64');
  const png = bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'));
  const jpeg = bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'));
  // Nothing else is handed to the decoder, and no SVG that asks for more than itself.
  const refusal = png || jpeg ? null : svgRefusal(bytes);
  if (refusal !== null) throw new PictureFault(refusal);
  let image: Image;
  try {
    image = await loadImage(bytes);
  } catch {
    throw new PictureFault('the picture cannot be decoded');
  }
  if (!(image.width > 0 && image.height > 0)) throw new PictureFault('the picture has no size');
  if (image.width * image.height > MOST_PIXELS)
    throw new PictureFault(`the picture has more than ${MOST_PIXELS} pixels`);
  return { image, vector: !png && !jpeg };
}

function halftone(
  { image, vector }: Picture,
  box: { width: number; height: number },
  { fit, halftone: method }: Pick<ImageElement, 'fit' | 'halftone'>,
): Bitmap {
  const { width, height } = box;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  const [natural, tall] = [image.naturalWidth, image.naturalHeight];
  const across = width / natural;
  const down = height / tall;
  const scale = fit === 'contain' ? Math.min(across, down) : Math.max(across, down);
  const [drawnWidth, drawnHeight] = [natural * scale, tall * scale];
  context.imageSmoothingQuality = 'high';
  if (vector) {
    // Drawn at this size, not at its own and then enlarged.
    image.width = drawnWidth;
    image.height = drawnHeight;
  }
  context.drawImage(image, (width - drawnWidth) / 2, (height - drawnHeight) / 2, drawnWidth, drawnHeight);

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
