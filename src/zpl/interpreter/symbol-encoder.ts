/** What the interpreter wants of the renderer for the barcodes that the rasteriser does not draw. */

/** What encodes symbols; supplied by the renderer, which has the symbologies. Names and options are those of BWIPP. */
export interface SymbolEncoder {
  /** Widths of bar, space, …, bar in modules. @throws GraphicError the text cannot be encoded */
  widths(name: string, text: string, options?: Record<string, string | boolean>): readonly number[];
  /** Rows of modules, 1 is dark, each once whatever its height. @throws GraphicError */
  rows(
    name: string,
    text: string,
    options?: Record<string, string | boolean>,
  ): readonly (readonly number[])[];
  /** Bars of a postal code: full, ascender, descender, tracker; of two heights: ascender, tracker. @throws GraphicError */
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
  /** Without prefix: `BU`. */
  readonly name: string;
  /** With all measures in dots. */
  readonly params: string;
  /** One character for each byte. */
  readonly data: string;
  readonly utf8: boolean;
  readonly dpi: number;
  /** Of `^FO` or `^FT`; undefined: the field has none. */
  readonly origin: string | undefined;
  /** Parameters of `^BY` and `^FW`. */
  readonly by: string;
  readonly turn: string;
}
