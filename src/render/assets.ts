/** The images and fonts that a template brings for its elements. */
import { LRUCache } from 'lru-cache';
import type { DesignedTemplate } from '../contract/template.ts';
import type { Item, TextItem } from './display-list.ts';
import type { Bitmap } from './image/bitmap.ts';
import { createImageSet, type ImageSet, type Picture, type PictureKeep } from './image/image.ts';
import type { Kept } from './kept.ts';
import type { TenantFace } from './text/font-face.ts';
import { createFontSet, type FontSet } from './text/tenant-fonts.ts';

export interface Assets {
  readonly images: ImageSet;
  readonly fonts: FontSet;
}

/** What stays decoded, or drawn, from one template to the next. */
export interface Keep {
  readonly pictures: PictureKeep;
  readonly faces: Kept<TenantFace>;
  /** Items of texts that were drawn before. An equal text uses that item again, because its dots are known (`textAsBefore`). */
  readonly texts: Kept<TextItem>;
}

/** @param keep if left out, everything is decoded anew */
export function createAssets({ images, fonts }: DesignedTemplate, keep?: Keep): Assets {
  return { images: createImageSet(images, keep?.pictures), fonts: createFontSet(fonts, keep?.faces) };
}

/**
 * For how many owners a thread keeps files decoded. For each owner: the most pixels of pictures (four bytes each), bytes of
 * their dots, faces, and bytes of texts and their dots.
 */
const MOST_OWNERS = 2;
const MOST_PIXELS = 8_000_000;
const MOST_BITMAPS = 8 * 1024 * 1024;
const MOST_FACES = 16;
const MOST_TEXTS = 2 * 1024 * 1024;
/** After this time without use, ms, an owner's files are dropped. */
const UNUSED = 600_000;

/**
 * What a thread keeps decoded for the templates that it draws again and again. Each owner has a cache of its own, so that the
 * time that a picture takes does not tell whether somebody else has drawn it.
 */
export class KeptAssets {
  readonly #owners = new LRUCache<string, Keep>({ max: MOST_OWNERS, ttl: UNUSED, updateAgeOnGet: true });

  of(owner: string): Keep {
    const known = this.#owners.get(owner);
    if (known !== undefined) return known;
    const keep = {
      pictures: {
        pictures: new LRUCache<string, Picture>({
          maxSize: MOST_PIXELS,
          sizeCalculation: ({ pixels }) => pixels,
        }),
        bitmaps: new LRUCache<string, Bitmap>({
          maxSize: MOST_BITMAPS,
          sizeCalculation: ({ data }) => data.length,
        }),
      },
      faces: new LRUCache<string, TenantFace>({ max: MOST_FACES }),
      texts: new LRUCache<string, TextItem>({ maxSize: MOST_TEXTS, sizeCalculation: textBytes }),
    };
    this.#owners.set(owner, keep);
    return keep;
  }
}

/** The most bytes that a text and its dots take, as hardly any character is wider than an em. */
function textBytes({ text, size }: TextItem): number {
  return Math.ceil(text.length * (2 + (size * size) / 8)) + 200;
}

/** Returns the item itself. But if an equal text was drawn before, its item is returned, so that it is not drawn again. */
export function textAsBefore(item: Item, texts: Kept<TextItem>): Item {
  if (item.kind !== 'text') return item;
  const { face, ...rest } = item;
  const key = JSON.stringify([typeof face === 'string' ? face : [face.family, face.fallback], rest]);
  const known = texts.get(key);
  if (known === undefined) texts.set(key, item);
  return known ?? item;
}
