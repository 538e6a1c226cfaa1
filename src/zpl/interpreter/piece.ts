/** What a label's plan is made of. */
import type { EllipsePiece } from './shape.ts';
import type { SymbolField } from './symbol-encoder.ts';

/** A PNG that was downloaded, each of its dots enlarged. */
export interface PicturePiece {
  readonly kind: 'picture';
  readonly file: Uint8Array;
  readonly across: number;
  readonly down: number;
}

/** A font that was downloaded, before the texts that are set in it. */
export interface FontPiece {
  readonly kind: 'font';
  /** By which the texts call it. */
  readonly name: string;
  readonly file: Uint8Array;
}

/** Plain ZPL, or what becomes plain ZPL only where the label is drawn. */
export type Piece = string | SymbolField | PicturePiece | FontPiece | EllipsePiece;
