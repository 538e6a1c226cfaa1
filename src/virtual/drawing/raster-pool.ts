/** One raster thread for the ZPL of all virtual printers of a process. */
import type { LabelPage } from '../../zpl/interpreter/draw.ts';
import { DrawingThread } from './drawing-thread.ts';

export interface RasterRequest extends LabelPage {
  readonly id: number;
  readonly zpl: string;
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
