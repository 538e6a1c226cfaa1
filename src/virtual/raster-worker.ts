/**
 * Draws one label: plain ZPL in, a PNG of the media out. A thread of its own, because the rasteriser takes tens of
 * milliseconds of uninterrupted work, and 95 MB once.
 *
 * A label that cannot be drawn still comes out, as it would of a printer, but crossed out, with the reason.
 */
import { setImmediate as yieldToCollector } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { ready } from 'zpl-renderer-js';
import type { RasterReply, RasterRequest } from './raster-pool.ts';

const MARK = 8;

/** The picture of the fields, or undefined when nothing on the label leaves a mark. */
async function draw(request: RasterRequest): Promise<Buffer | undefined> {
  const { api } = await ready;
  const { zpl, width, length, dpmm } = request;
  try {
    const [picture] = await api.zplToBase64MultipleAsync(zpl, width / dpmm, length / dpmm, dpmm);
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
async function compose(
  request: RasterRequest,
  picture: Buffer | undefined,
  crossed: boolean,
): Promise<Buffer> {
  const { mediaWidth, mediaHeight, width, length } = request;
  if (picture && !crossed && !request.inverted && !request.mirrored) {
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
    const flipX = request.inverted !== request.mirrored;
    context.translate(flipX ? width : 0, request.inverted ? length : 0);
    context.scale(flipX ? -1 : 1, request.inverted ? -1 : 1);
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
  // Without a turn of the event loop native pictures are not given back (see facts: memory trap).
  await yieldToCollector();
  return png;
}

async function raster(request: RasterRequest): Promise<RasterReply> {
  const faults = [...request.faults];
  let picture: Buffer | undefined;
  try {
    picture = await draw(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    faults.push(message.split('\n', 1)[0] ?? 'cannot be drawn');
  }
  const png = await compose(request, picture, faults.length > 0);
  return { id: request.id, png, faults };
}

const port = parentPort;
if (!port) throw new Error('raster-worker runs as a worker thread only');
port.on('message', (request: RasterRequest) => {
  void raster(request).then((reply) => port.postMessage(reply));
});
