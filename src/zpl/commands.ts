/**
 * Properties of ZPL commands, for all code that reads ZPL: which commands print, which are barcodes or fonts, and which
 * parameters are measures. Command names have no prefix.
 *
 * Source: ZPL II Programming Guide, the commands named.
 */

/** A printer's default prefixes and delimiter, by the command that changes each. */
export const USUAL_SYNTAX = { CC: '^', CT: '~', CD: ',' } as const;

export type SyntaxChange = keyof typeof USUAL_SYNTAX;

export function changesSyntax(name: string): name is SyntaxChange {
  return Object.hasOwn(USUAL_SYNTAX, name);
}

/** Commands that put something on the label, by themselves or by the data that they carry. */
export const PRINTS: ReadonlySet<string> = words('FD FV SN GB GC GD GE GF XG IM IL');

/** Commands that download an object, each with the object's default extension. ~DY names the extension in a parameter. */
export const DOWNLOADS = { DB: 'FNT', DG: 'GRF', DS: 'FNT', DT: 'FNT', DU: 'FNT', DY: undefined } as const;

export function isDownload(name: string): name is keyof typeof DOWNLOADS {
  return Object.hasOwn(DOWNLOADS, name);
}

export function isFont(name: string): boolean {
  return /^A[A-Z0-9@]$/.test(name);
}

/** ^BY only sets defaults for barcodes; it is not a barcode. */
export function isBarcode(name: string): boolean {
  return /^B[0-9A-Z]$/.test(name) && name !== 'BY';
}

/** The index of the parameter that is a linear barcode's height. */
const BAR_HEIGHT: Readonly<Record<string, number>> = {
  ...indexed('B2 B5 B8 B9 BA BC BE BI BJ BL BS BU BZ', 1),
  ...indexed('B1 B3 BK BM BP', 2),
};

export function barHeightParameter(name: string): number | undefined {
  return BAR_HEIGHT[name];
}

/** Indexes of the parameters that are positions or sizes on the label, not counts, flags or ratios. */
const MEASURED: Readonly<Record<string, readonly number[]>> = {
  ...indexed('LL LS LT PW', [0]),
  ...indexed('FO FT LH GC', [0, 1]),
  ...indexed('GB GD GE', [0, 1, 2]),
  ...indexed('CF TB', [1, 2]),
  FB: [0, 2, 4],
  BY: [2],
};

export function measuredParameters(name: string): readonly number[] {
  if (isFont(name)) return [1, 2];
  const height = BAR_HEIGHT[name];
  return height === undefined ? (MEASURED[name] ?? []) : [height];
}

/** The names in a text, separated by blanks. */
export function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

function indexed<T>(names: string, index: T): Record<string, T> {
  return Object.fromEntries(names.split(' ').map((name) => [name, index]));
}
