/** Pictures on a label: decoded once, scaled to printer dots, made black and white. */

import { createHash } from 'node:crypto';
import { type Image, loadImage } from '@napi-rs/canvas';
import { dots } from '../../contract/dots.ts';
import { because } from '../../contract/reason.ts';
import type { ImageElement, NamedImage } from '../../contract/template.ts';
import type { Defaults } from '../../values/built-ins.ts';
import { compileText } from '../../values/merge.ts';
import type { Item } from '../display-list.ts';
import { requireElementDots } from '../dot-limit.ts';
import type { Kept } from '../kept.ts';
import { ElementFault, type ElementLayout, type ElementPlace } from '../place.ts';
import { upright } from '../turn.ts';
import { type Bitmap, turnBitmap } from './bitmap.ts';
import { inBands, STRETCH } from './in-bands.ts';
import { PictureFault } from './picture-fault.ts';
import { type PictureFile, readPictureFile } from './picture-file.ts';
import { requireWhole } from './whole-picture.ts';

/** The most of a vector drawing that is drawn at once: its dots times the elements that may paint each dot. */
const STRETCH_WORK = 500_000_000;
/** A square drawing with sides of so many dots is too large for the library to keep as pixels. */
const DRAWN_IN_PARTS = 6_000;

/** The most pixels of all pictures of a template. The library keeps four bytes for each while labels are made. */
const ALL_PIXELS = 32_000_000;

/** A template's pictures. Each is decoded once, when somebody first asks for it. */
export interface ImageSet {
  readonly names: readonly string[];
  /** One of the template's `images`. @throws PictureFault */
  named(name: string): Promise<Picture>;
  /** A picture given in its element, base64. @throws PictureFault */
  embedded(data: string): Promise<Picture>;
  /** The picture's dots at this size. */
  dots(picture: Picture, box: Size, how: Halftone): Bitmap;
}

/** A decoded picture. It has its file's hash if decoded pictures are kept. */
export interface Picture extends PictureFile {
  readonly image: Image;
  readonly hash: string | undefined;
}

/** Keeps pictures by the hash of their files, and their dots by hash, size and halftone. */
export interface PictureKeep {
  readonly pictures: Kept<Picture>;
  readonly bitmaps: Kept<Bitmap>;
}

type Size = { readonly width: number; readonly height: number };
type Halftone = Pick<ImageElement, 'fit' | 'halftone'>;

/** @param keep if left out, each set decodes its pictures anew */
export function createImageSet(images: readonly NamedImage[], keep?: PictureKeep): ImageSet {
  const named = new Map(images.map((image) => [image.name, image.data]));
  const decoded = new Map<string, Promise<Picture>>();
  let room = ALL_PIXELS;
  const embedded = (data: string): Promise<Picture> => {
    const known = decoded.get(data) ?? decode(data, take, keep);
    decoded.set(data, known);
    return known;
  };
  const take = (pixels: number) => {
    room -= pixels;
    if (room >= 0) return;
    throw new PictureFault(because('pictures-large', { most: ALL_PIXELS }));
  };
  return {
    names: [...named.keys()],
    named: (name) => embedded(named.get(name) ?? ''),
    embedded,
    dots: (picture, box, how) => {
      if (keep === undefined) return halftone(picture, box, how);
      const key = [picture.hash, box.width, box.height, how.fit, how.halftone].join(' ');
      const bitmap = keep.bitmaps.get(key) ?? halftone(picture, box, how);
      keep.bitmaps.set(key, bitmap);
      return bitmap;
    },
  };
}

/** @throws ElementFault `template-invalid`: not a picture, too large, or not in the set */
export async function imageLayout(
  element: ImageElement,
  place: ElementPlace,
  dpi: number,
  scope: Defaults,
  images: ImageSet,
): Promise<ElementLayout> {
  const { data, image } = element;
  const size = {
    width: Math.max(1, dots(element.width, dpi)),
    height: Math.max(1, dots(element.height, dpi)),
  };
  requireElementDots(size, place);
  if ((data === undefined) === (image === undefined)) {
    throw new ElementFault('template-invalid', place, because('image-one-source', {}));
  }
  const name = compileText(image ?? '', scope, `${place.pointer}/image`);
  const constant = name.fields.length === 0 ? name.fill({}) : undefined;
  const usable = new Map<string, Picture>();
  const take = async (key: string, picture: Promise<Picture>) => {
    usable.set(key, await picture.catch((error) => refuse(error, place)));
  };
  if (data !== undefined) await take('', images.embedded(data));
  else {
    // Loaded beforehand, because a record may choose any of them, and layout is synchronous.
    for (const key of images.names) {
      if (constant === undefined || constant === key) await take(key, images.named(key));
    }
    if (constant !== undefined && constant !== '' && !usable.has(constant)) {
      throw new ElementFault(
        'template-invalid',
        place,
        because('image-unknown', { image: JSON.stringify(constant) }),
      );
    }
  }
  const nothing: Item[] = [];
  // A picture is drawn when it is first used, and from then on its items are shared.
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
        throw new ElementFault('value-invalid', place, because('image-of-record', {}));
      }
      const items = imageItems(chosen, element, size, dpi, images);
      drawn.set(key, items);
      return items;
    },
  };
}

function refuse(error: unknown, place: ElementPlace): never {
  if (error instanceof PictureFault) throw new ElementFault('template-invalid', place, error.said);
  throw error;
}

function imageItems(
  picture: Picture,
  element: ImageElement,
  size: Size,
  dpi: number,
  images: ImageSet,
): Item[] {
  const inner = upright(size, element.rotation);
  const bitmap = turnBitmap(images.dots(picture, inner, element), element.rotation);
  return [{ kind: 'bitmap', x: dots(element.x, dpi), y: dots(element.y, dpi), bitmap, scale: 1 }];
}

/** @param take called with the number of pixels before the picture is decoded */
async function decode(
  data: string,
  take: (pixels: number) => void,
  keep: PictureKeep | undefined,
): Promise<Picture> {
  const bytes = Buffer.from(data, 'base64');
  const hash = keep && createHash('sha256').update(bytes).digest('hex');
  const known = hash === undefined ? undefined : keep?.pictures.get(hash);
  const file = known ?? readPictureFile(bytes);
  take(file.pixels);
  if (known !== undefined) return known;
  if (file.pixelFile !== undefined) await requireWhole(bytes, file.pixelFile);
  let image: Image;
  try {
    image = await loadImage(bytes);
  } catch {
    throw new PictureFault(because('picture-broken', {}));
  }
  if (!(image.width > 0 && image.height > 0)) throw new PictureFault(because('picture-no-size', {}));
  const picture = { image, hash, ...file };
  // A vector drawing is not kept, because what the library holds for it depends on the size that it was last drawn at.
  if (hash !== undefined && file.pixelFile !== undefined) keep?.pictures.set(hash, picture);
  return picture;
}

/** A picture's dots at this size. */
function halftone(
  { image, pixelFile, layers }: Picture,
  box: Size,
  { fit, halftone: method }: Halftone,
): Bitmap {
  const { width, height } = box;
  const [natural, tall] = [image.naturalWidth, image.naturalHeight];
  const across = width / natural;
  const down = height / tall;
  const scale = fit === 'contain' ? Math.min(across, down) : Math.max(across, down);
  const [drawnWidth, drawnHeight] = [natural * scale, tall * scale];
  const inOne = width * height <= STRETCH && width * height * layers <= STRETCH_WORK;
  if (pixelFile === undefined) {
    // It is drawn at this size, not at its own size and then enlarged. Up to some size the library draws all of it at once,
    // whatever part is asked for. If that is too much work, the library is given a size beyond that one.
    const larger = inOne ? 1 : Math.max(1, DRAWN_IN_PARTS / Math.sqrt(drawnWidth * drawnHeight));
    image.width = drawnWidth * larger;
    image.height = drawnHeight * larger;
  }
  const rows = inOne ? height : Math.max(1, Math.floor(Math.min(STRETCH, STRETCH_WORK / layers) / width));
  const [x, y] = [(width - drawnWidth) / 2, (height - drawnHeight) / 2];
  return inBands(box, rows, method, (context, top) => {
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, x, y - top, drawnWidth, drawnHeight);
  });
}
