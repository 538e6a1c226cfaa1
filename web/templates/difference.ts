/** Compares two of the service's pictures of a label, dot by dot. */
import type { Preview } from '../../src/contract/label-picture.ts';
import { pngAddress } from './preview.ts';

/** One value for each dot: true is ink. */
type Dots = { width: number; height: number; ink: (x: number, y: number) => boolean };

export type Difference = { picture: ImageData; gone: number; added: number };

/** Colours of dots: unchanged ones are pale; removed and new ones have colours that colour-blind people can tell apart. */
const STAYS = [205, 205, 205];
const GONE = [213, 94, 0];
const ADDED = [0, 90, 181];

/** @throws Error if the picture cannot be read */
export async function dotsOf(preview: Preview): Promise<Dots> {
  const { width, height, png } = preview;
  if (png === null) return { width, height, ink: () => false };
  const image = new Image();
  image.src = pngAddress(png);
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('the browser draws no pictures');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return {
    width: canvas.width,
    height: canvas.height,
    ink: (x, y) => x < canvas.width && y < canvas.height && (data[(y * canvas.width + x) * 4] ?? 255) < 128,
  };
}

export function difference(older: Dots, newer: Dots): Difference {
  const width = Math.max(older.width, newer.width);
  const height = Math.max(older.height, newer.height);
  const picture = new ImageData(width, height);
  let gone = 0;
  let added = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [was, is] = [older.ink(x, y), newer.ink(x, y)];
      if (was && !is) gone += 1;
      if (is && !was) added += 1;
      const colour = was && is ? STAYS : was ? GONE : is ? ADDED : [255, 255, 255];
      picture.data.set([...colour, 255], (y * width + x) * 4);
    }
  }
  return { picture, gone, added };
}
