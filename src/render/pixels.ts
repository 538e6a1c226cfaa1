/**
 * Drawing that is read back as pixels: on one canvas for all, and with pixels that are given back at once.
 *
 * Left to the garbage collector they stay for long: to it they are small objects, and it sees nothing of what the
 * drawing library holds for them. 40,000 lines of text took 190 MB that way, and take 100 MB.
 */
import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';

let canvas: Canvas | undefined;

/**
 * @param draw on transparent ground, at once
 * @param read gets RGBA, row by row; it is gone when this returns
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
