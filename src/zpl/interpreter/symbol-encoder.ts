/** What the interpreter needs from the renderer for the barcodes that the rasteriser does not draw. */

/** Encodes symbols. The renderer supplies it, because it has the symbologies. Names and options are those of BWIPP. */
export interface SymbolEncoder {
  /** Widths of bar, space, …, bar in modules. @throws GraphicError the text cannot be encoded */
  widths(name: string, text: string, options?: Record<string, string | boolean>): readonly number[];
  /** Rows of modules; 1 is dark. Each row is given once, whatever its height. @throws GraphicError */
  rows(
    name: string,
    text: string,
    options?: Record<string, string | boolean>,
  ): readonly (readonly number[])[];
  /**
   * Bars of a postal code: full, ascender, descender, tracker. A code with only two heights has ascenders and trackers.
   * @throws GraphicError
   */
  postal(name: string, text: string): readonly ('F' | 'A' | 'D' | 'T')[];
  /** @throws GraphicError */
  maxiCode(
    text: string,
    mode: number,
    dpi: number,
  ): { readonly data: Uint8Array; readonly stride: number; readonly height: number };
}

/** A field with such a barcode, and the settings that it is drawn with. */
export interface SymbolField {
  /** The command's name without prefix: `BU`. */
  readonly name: string;
  /** With all measures in dots. */
  readonly params: string;
  /** One character for each byte. */
  readonly data: string;
  readonly utf8: boolean;
  readonly dpi: number;
  /** The field's `^FO` or `^FT`. Undefined: the field has none. */
  readonly origin: string | undefined;
  /** Parameters of the `^BY` and the `^FW` in force. */
  readonly by: string;
  readonly turn: string;
}
