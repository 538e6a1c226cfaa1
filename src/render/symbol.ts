/**
 * From a value to a symbol: one entry a symbology, in modules, with the quiet zones its standard asks for.
 *
 * A value is encoded as it is or refused (`SymbolError`): what a scanner reads is what was posted.
 */
import type { BarcodeElement, Symbology } from '../contract/template.ts';
import { type Bitmap, blacken, createBitmap } from './bitmap.ts';
import { bwipMatrix, bwipWidths, SymbolError } from './bwip.ts';
import { code128Widths, encodeCode128, FNC1 } from './code128.ts';
import type { NativeSymbol } from './display-list.ts';
import { checkDigit, elementString, hasCheckDigit } from './gs1.ts';

export interface LinearSymbol {
  readonly kind: 'linear';
  /** Width without quiet zones, modules. */
  readonly modules: number;
  readonly widths: () => readonly number[];
  readonly native: NativeSymbol | undefined;
  /** The human-readable interpretation. */
  readonly text: string;
}

export interface MatrixSymbol {
  readonly kind: 'matrix';
  /** Modules a side, without quiet zone. */
  readonly modules: number;
  readonly bitmap: () => Bitmap;
}

export type BarcodeSymbol = LinearSymbol | MatrixSymbol;

export interface QuietZone {
  /** Modules. */
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

type Options = Pick<BarcodeElement, 'ecLevel'>;

interface SymbologyRules {
  readonly kind: 'linear' | 'matrix';
  readonly quiet: QuietZone;
  /** @throws SymbolError */
  readonly encode: (value: string, options: Options) => BarcodeSymbol;
  /**
   * Modules a side that the symbol surely does not exceed, found without encoding it; undefined: not known.
   * @throws SymbolError
   */
  readonly bound?: (value: string, options: Options) => number | undefined;
}

const besideOnly = (left: number, right: number): QuietZone => ({ left, right, top: 0, bottom: 0 });
const around = (modules: number): QuietZone => ({
  left: modules,
  right: modules,
  top: modules,
  bottom: modules,
});

function utf8(value: string): Buffer {
  if (!value.isWellFormed()) throw new SymbolError('half of a surrogate pair cannot be encoded');
  return Buffer.from(value, 'utf8');
}

function code128(input: readonly number[], text: string): LinearSymbol {
  const symbol = encodeCode128(input);
  return {
    kind: 'linear',
    modules: symbol.modules,
    widths: () => code128Widths(symbol),
    native: symbol.plain ? { symbology: 'code128', runs: symbol.runs } : undefined,
    text,
  };
}

function latin1(value: string): number[] {
  return Array.from(value, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code > 255) throw new SymbolError('Code 128 holds the characters of Latin-1 only');
    return code;
  });
}

function ean13(value: string): LinearSymbol {
  if (!/^\d{12,13}$/.test(value)) throw new SymbolError('EAN-13 holds 12 digits, or 13 with the check digit');
  if (value.length === 13 && !hasCheckDigit(value)) throw new SymbolError('the check digit is wrong');
  const digits = value.length === 13 ? value : value + checkDigit(value);
  return {
    kind: 'linear',
    modules: 95,
    widths: () => bwipWidths('ean13', digits),
    native: { symbology: 'ean13', digits },
    text: digits,
  };
}

function matrix(bcid: string, text: string, options: Record<string, string | boolean>): MatrixSymbol {
  const { width, height, modules } = bwipMatrix(bcid, text, options);
  return {
    kind: 'matrix',
    modules: width,
    bitmap: () => {
      const bitmap = createBitmap(width, height);
      modules.forEach((dark, index) => {
        if (dark === 1) blacken(bitmap, index % width, Math.floor(index / width));
      });
      return bitmap;
    },
  };
}

/** Byte-mode capacity of QR versions 1 to 40 (ISO/IEC 18004, table 7). */
const QR_BYTES = {
  L: [
    17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792, 858, 929, 1003,
    1091, 1171, 1273, 1367, 1465, 1528, 1628, 1732, 1840, 1952, 2068, 2188, 2303, 2431, 2563, 2699, 2809,
    2953,
  ],
  M: [
    14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779,
    857, 911, 997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099, 2213, 2331,
  ],
  Q: [
    11, 20, 32, 46, 60, 74, 86, 108, 130, 151, 177, 203, 241, 258, 292, 322, 364, 394, 442, 482, 509, 565,
    611, 661, 715, 751, 805, 868, 908, 982, 1030, 1112, 1168, 1228, 1283, 1351, 1423, 1499, 1579, 1663,
  ],
  H: [
    7, 14, 24, 34, 44, 58, 64, 84, 98, 119, 137, 155, 177, 194, 220, 250, 280, 310, 338, 382, 403, 439, 461,
    511, 535, 593, 625, 658, 698, 742, 790, 842, 898, 958, 983, 1051, 1093, 1139, 1219, 1273,
  ],
} as const;
const QR_LEVEL = 'M';

function qrBound(value: string, options: Options): number | undefined {
  const bytes = utf8(value).length;
  const version = QR_BYTES[options.ecLevel ?? QR_LEVEL].findIndex((capacity) => bytes <= capacity);
  return version < 0 ? undefined : 21 + 4 * version;
}

/** Side and data codewords of the square symbols (ISO/IEC 16022, table 7). */
const DATA_MATRIX_SIZES = [
  [10, 3],
  [12, 5],
  [14, 8],
  [16, 12],
  [18, 18],
  [20, 22],
  [22, 30],
  [24, 36],
  [26, 44],
  [32, 62],
  [36, 86],
  [40, 114],
  [44, 144],
  [48, 174],
  [52, 204],
  [64, 280],
  [72, 368],
  [80, 456],
  [88, 576],
  [96, 696],
  [104, 816],
  [120, 1050],
  [132, 1304],
  [144, 1558],
] as const;

function dataMatrixSide(codewords: number): number | undefined {
  return DATA_MATRIX_SIZES.find(([, capacity]) => codewords <= capacity)?.[0];
}

/** Plain ASCII as it is; anything more as UTF-8 and marked so (ECI 26). */
function dataMatrix(value: string): MatrixSymbol {
  if (/^[\0-\x7f]*$/.test(value)) return matrix('datamatrix', value, { binarytext: true });
  const escaped = utf8(value).toString('latin1').replaceAll('^', '^^');
  return matrix('datamatrix', `^ECI000026${escaped}`, { binarytext: true, parsefnc: true });
}

/** ASCII encodation takes at most one codeword a character, two over 127; the ECI takes two. */
function dataMatrixBound(value: string): number | undefined {
  let codewords = 0;
  for (const byte of utf8(value)) codewords += byte > 127 ? 2 : 1;
  return dataMatrixSide(codewords === value.length ? codewords : codewords + 2);
}

function gs1DataMatrix(value: string): MatrixSymbol {
  const { data } = elementString(value);
  // CSET 82 has no ^, so there is nothing to escape.
  const text = data.map((code) => (code === FNC1 ? '^FNC1' : String.fromCharCode(code))).join('');
  return matrix('datamatrix', `^FNC1${text}`, { parsefnc: true });
}

function gs1Code128(value: string): LinearSymbol {
  const { data, text } = elementString(value);
  // GS1 General Specifications §5.4.1.
  if (data.length > 48) throw new SymbolError('GS1-128 holds 48 characters, AIs and separators included');
  return code128([FNC1, ...data], text);
}

const RULES: Readonly<Record<Symbology, SymbologyRules>> = {
  code128: {
    kind: 'linear',
    quiet: besideOnly(10, 10),
    encode: (value) => code128(latin1(value), value),
  },
  'gs1-128': { kind: 'linear', quiet: besideOnly(10, 10), encode: gs1Code128 },
  ean13: { kind: 'linear', quiet: besideOnly(11, 7), encode: ean13 },
  qr: {
    kind: 'matrix',
    quiet: around(4),
    // Bytes without an ECI: phones take them for UTF-8, and many do not know ECIs.
    encode: (value, options) =>
      matrix('qrcode', utf8(value).toString('latin1'), {
        binarytext: true,
        eclevel: options.ecLevel ?? QR_LEVEL,
      }),
    bound: qrBound,
  },
  datamatrix: { kind: 'matrix', quiet: around(1), encode: dataMatrix, bound: dataMatrixBound },
  'gs1-datamatrix': {
    kind: 'matrix',
    quiet: around(1),
    encode: gs1DataMatrix,
    bound: (value) => dataMatrixSide(elementString(value).data.length + 1),
  },
};

export function isGs1(symbology: Symbology): boolean {
  return symbology === 'gs1-128' || symbology === 'gs1-datamatrix';
}

export function isMatrix(symbology: Symbology): boolean {
  return RULES[symbology].kind === 'matrix';
}

export function quietZone(symbology: Symbology): QuietZone {
  return RULES[symbology].quiet;
}

/** @throws SymbolError */
export function encodeSymbol(symbology: Symbology, value: string, options: Options): BarcodeSymbol {
  if (value === '') throw new SymbolError('the value is empty');
  return RULES[symbology].encode(value, options);
}

/** Modules a side that a matrix symbol surely does not exceed, cheaply; undefined: encode it to know. */
export function symbolBound(symbology: Symbology, value: string, options: Options): number | undefined {
  if (value === '') throw new SymbolError('the value is empty');
  return RULES[symbology].bound?.(value, options);
}
