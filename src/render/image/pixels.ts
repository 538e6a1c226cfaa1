/**
 * Draws on one shared canvas, reads the pixels back, and frees their memory at once.
 *
 * The garbage collector would keep the pixels for long, because it sees only small objects, and not the memory that the drawing
 * library holds for them. 40,000 lines of text took 190 MB that way, and take 100 MB now.
 */
import { type Canvas, createCanvas, type ImageData, type SKRSContext2D } from '@napi-rs/canvas';
import type { Rect } from '../display-list.ts';

let canvas: Canvas | undefined;

/** Four bytes for each pixel, row by row. */
export type Rgba = ImageData['data'];

/**
 * @param draw draws synchronously, on a transparent ground
 * @param read gets the pixels, RGBA, row by row; they are freed when it returns
 */
export function withPixels<T>(
  width: number,
  height: number,
  draw: (context: SKRSContext2D) => void,
  read: (rgba: Rgba) => T,
): T {
  canvas ??= createCanvas(1, 1);
  // Setting the size clears the canvas and frees a large one's memory.
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  draw(context);
  return readPixels(context, { x: 0, y: 0, width, height }, read);
}

/** Reads a part of a drawing. The pixels are freed when `read` returns. */
export function readPixels<T>(
  context: SKRSContext2D,
  { x, y, width, height }: Rect,
  read: (rgba: Rgba) => T,
): T {
  const { data } = context.getImageData(x, y, width, height);
  const result = read(data);
  if (data.buffer instanceof ArrayBuffer) data.buffer.transfer(0);
  return result;
}

/** One word for each pixel, so that equal pixels are found four times as fast. */
export function words({ buffer, byteOffset, length }: Rgba): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4);
}
