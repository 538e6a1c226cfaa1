/**
 * Draws on one shared canvas, reads the pixels back, and frees their memory at once.
 *
 * The garbage collector would keep the pixels for long: it sees small objects, and not the memory that the
 * drawing library holds for them. 40,000 lines of text took 190 MB that way, and take 100 MB now.
 */
import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';

let canvas: Canvas | undefined;

/**
 * @param draw draws synchronously, on a transparent ground
 * @param read gets the pixels, RGBA, row by row; they are freed when it returns
 */
export function withPixels<T>(
  width: number,
  height: number,
  draw: (context: SKRSContext2D) => void,
  read: (rgba: ArrayLike<number>) => T,
): T {
  canvas ??= createCanvas(1, 1);
  // Setting the size clears the canvas and frees a large one's memory.
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  draw(context);
  const { data } = context.getImageData(0, 0, width, height);
  const result = read(data);
  if (data.buffer instanceof ArrayBuffer) data.buffer.transfer(0);
  return result;
}
