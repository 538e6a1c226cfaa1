/** One raster thread for the ZPL of all virtual printers of a process. */
import { DrawingThread } from './drawing-thread.ts';

export interface RasterRequest {
  readonly id: number;
  readonly zpl: string;
  /** Printable part and media, dots. */
  readonly width: number;
  readonly length: number;
  readonly mediaWidth: number;
  readonly mediaHeight: number;
  readonly inverted: boolean;
  readonly mirrored: boolean;
  readonly faults: readonly string[];
}

export interface RasterReply {
  readonly id: number;
  readonly png: Uint8Array;
  /** Why the label is crossed out; empty for a good one. */
  readonly faults: readonly string[];
}

export const rasterPool = new DrawingThread<Omit<RasterRequest, 'id'>, RasterReply>(
  new URL('./raster-worker.ts', import.meta.url),
);
