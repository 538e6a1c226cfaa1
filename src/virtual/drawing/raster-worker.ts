/**
 * Draws one label: plain ZPL in, a PNG of the media out. A thread of its own, because the rasteriser takes tens of
 * milliseconds of uninterrupted work, and 95 MB once.
 *
 * A label that cannot be drawn still comes out, as it would from a printer, but crossed out, with the reason.
 */
import { parentPort } from 'node:worker_threads';
import { zplRenderer } from '../../render/output/zpl-renderer.ts';
import { composeMedia, drawFields } from '../../zpl/interpreter/draw.ts';
import { labelZpl } from '../../zpl/interpreter/label-zpl.ts';
import type { RasterReply, RasterRequest } from './raster-protocol.ts';

async function raster(request: RasterRequest): Promise<RasterReply> {
  const faults = [...request.faults];
  let picture: Buffer | undefined;
  try {
    picture = await drawFields(await labelZpl(request.pieces, zplRenderer), request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    faults.push(message.split('\n', 1)[0] ?? 'cannot be drawn');
  }
  const png = await composeMedia(request, picture, faults.length > 0);
  return { id: request.id, png, faults };
}

const port = parentPort;
if (!port) throw new Error('raster-worker runs as a worker thread only');
port.on('message', (request: RasterRequest) => {
  void raster(request).then((reply) => port.postMessage(reply));
});
