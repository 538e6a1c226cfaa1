/** What a label's plan is made of. */
import type { EllipsePiece } from './shape.ts';
import type { SymbolField } from './symbol-encoder.ts';

/** A PNG that was downloaded. Each of its dots is enlarged. */
export interface PicturePiece {
  readonly kind: 'picture';
  readonly file: Uint8Array;
  readonly across: number;
  readonly down: number;
}

/** A font that was downloaded. It stands before the texts that are set in it. */
export interface FontPiece {
  readonly kind: 'font';
  /** The name by which the texts call it. */
  readonly name: string;
  readonly file: Uint8Array;
}

/** Plain ZPL, or something that becomes plain ZPL only when the label is drawn. */
export type Piece = string | SymbolField | PicturePiece | FontPiece | EllipsePiece;
