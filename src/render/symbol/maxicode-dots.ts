/** Draws MaxiCode for the ZPL interpreter, whose rasteriser draws only modes 2 and 3 of some carriers. */
import { GraphicError } from '../../zpl/graphic-data.ts';
import type { DrawMaxiCode } from '../../zpl/interpreter/maxicode-field.ts';
import { SymbolError } from './bwip.ts';
import { encodeSymbol } from './symbol.ts';
import { maxiCodeBitmap } from './symbology/maxicode.ts';

export const maxiCodeDots: DrawMaxiCode = (text, mode, dpi) => {
  try {
    const symbol = encodeSymbol('maxicode', text, { mode });
    if (symbol.kind !== 'maxicode') throw new TypeError('a MaxiCode is of another kind');
    return maxiCodeBitmap(symbol, dpi);
  } catch (error) {
    if (error instanceof SymbolError) throw new GraphicError(`a MaxiCode: ${error.message}`);
    throw error;
  }
};
