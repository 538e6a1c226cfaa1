/** One raster thread for the ZPL of all virtual printers of a process. */
import { DrawingThread } from '../../render/drawing-thread.ts';
import type { RasterReply, RasterRequest } from './raster-protocol.ts';

export const rasterPool = new DrawingThread<Omit<RasterRequest, 'id'>, RasterReply>(
  new URL('./raster-worker.ts', import.meta.url),
);
