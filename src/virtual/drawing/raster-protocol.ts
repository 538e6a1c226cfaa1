/** The requests and replies of the raster thread. */
import type { LabelPage } from '../../zpl/interpreter/draw.ts';
import type { Piece } from '../../zpl/interpreter/piece.ts';

export interface RasterRequest extends LabelPage {
  readonly id: number;
  readonly pieces: readonly Piece[];
  readonly faults: readonly string[];
}

export interface RasterReply {
  readonly id: number;
  readonly png: Uint8Array;
  /** Why the label is crossed out; empty for a good one. */
  readonly faults: readonly string[];
}
