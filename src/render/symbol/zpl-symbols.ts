/** Encodes symbols for the ZPL interpreter, whose rasteriser does not draw all barcodes. */
import { GraphicError } from '../../zpl/graphic-data.ts';
import type { SymbolEncoder } from '../../zpl/interpreter/symbol-encoder.ts';
import { bwipPostal, bwipRows, bwipWidths, SymbolError } from './bwip.ts';
import { encodeSymbol } from './symbol.ts';
import { maxiCodeBitmap } from './symbology/maxicode.ts';

export const zplSymbols: SymbolEncoder = {
  widths: (name, text, options) => encoded(name, () => bwipWidths(name, text, options)),
  rows: (name, text, options) => encoded(name, () => bwipRows(name, text, options)),
  postal: (name, text) => encoded(name, () => bwipPostal(name, text)),
  maxiCode: (text, mode, dpi) =>
    encoded('MaxiCode', () => {
      const symbol = encodeSymbol('maxicode', text, { mode });
      if (symbol.kind !== 'maxicode') throw new TypeError('a MaxiCode is of another kind');
      return maxiCodeBitmap(symbol, dpi);
    }),
};

function encoded<T>(name: string, encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    if (error instanceof SymbolError) throw new GraphicError(`a symbol (${name}): ${error.message}`);
    throw error;
  }
}
