/** Makes the plain ZPL of one label from its plan. Pictures and fonts of others are read only now, and symbols are encoded. */
import { GraphicError, graphicCommand, hexDigits } from '../graphic-data.ts';
import { GraphicRoom } from './graphic-field.ts';
import type { LabelPlan } from './label-plan.ts';
import type { PicturePiece, Piece } from './piece.ts';
import { serialValue } from './serial.ts';
import { ellipseField } from './shape.ts';
import type { SymbolEncoder } from './symbol-encoder.ts';
import { symbolField } from './symbol-field.ts';

/** What the interpreter needs from the renderer. */
export interface Renderer extends SymbolEncoder {
  /** The dots of a PNG. A pixel below half of full brightness is black. @throws GraphicError */
  picture(
    png: Uint8Array,
  ): Promise<{ readonly data: Uint8Array; readonly stride: number; readonly height: number }>;
  /** @throws GraphicError the file is no TrueType font, or one that takes too long to draw */
  requireFont(file: Uint8Array): void;
}

/** The most bytes of all fonts of a label, because the rasteriser reads each again for every label. */
const MOST_FONTS = 2 * 1024 * 1024;

/** The pieces of the label with the given serial number, from 0. */
export function labelPieces(plan: LabelPlan, serial: number): Piece[] {
  return plan.pieces.map((piece) =>
    typeof piece === 'object' && 'step' in piece ? serialValue(piece, serial) : piece,
  );
}

/** The ZPL of a label. @throws GraphicError something cannot be drawn */
export async function labelZpl(pieces: readonly Piece[], renderer: Renderer): Promise<string> {
  const room = new GraphicRoom();
  let fonts = 0;
  let zpl = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') zpl += piece;
    else if (!('kind' in piece)) zpl += symbolField(piece, renderer, room);
    else if (piece.kind === 'ellipse') zpl += ellipseField(piece, room);
    else if (piece.kind === 'picture') zpl += await pictureField(piece, renderer, room);
    else {
      fonts += piece.file.length;
      if (fonts > MOST_FONTS) throw new GraphicError('the fonts of a label have more than 2 MB');
      renderer.requireFont(piece.file);
      zpl += `~DU${piece.name},${piece.file.length},${hexDigits(piece.file)}`;
    }
  }
  return zpl;
}

async function pictureField(
  { file, across, down }: PicturePiece,
  renderer: Renderer,
  room: GraphicRoom,
): Promise<string> {
  const { data, stride, height } = await renderer.picture(file);
  room.draw(8 * stride * height * across * down);
  if (across === 1 && down === 1) return graphicCommand(data.length, stride, hexDigits(data));
  return `~DGR:PICTURE.GRF,${data.length},${stride},${hexDigits(data)}^XGR:PICTURE.GRF,${across},${down}`;
}

/** Whether the labels of one batch differ. */
export function isSerial(plan: LabelPlan): boolean {
  return plan.pieces.some((piece) => typeof piece === 'object' && 'step' in piece);
}
