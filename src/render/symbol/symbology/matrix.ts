/** Matrix symbologies: QR Code, Micro QR Code, rMQR, Data Matrix, Aztec Code, and the GS1 forms of them. */
import { because } from '../../../contract/reason.ts';
import { blacken, createBitmap } from '../../image/bitmap.ts';
import { bwipMatrix, SymbolError } from '../bwip.ts';
import { FNC1 } from '../code128.ts';
import { elementString } from '../gs1.ts';
import { dataMatrix } from './data-matrix.ts';
import { around, type MatrixSymbol, type SymbolOptions, type SymbologyRules } from './rules.ts';
import { ECI_UTF8, eciText, utf8 } from './text.ts';

function matrix(bcid: string, text: string, options: Record<string, string | boolean>): MatrixSymbol {
  const { width, height, modules } = bwipMatrix(bcid, text, options);
  return {
    kind: 'matrix',
    columns: width,
    rows: height,
    bitmap: () => {
      const bitmap = createBitmap(width, height);
      modules.forEach((dark, index) => {
        if (dark === 1) blacken(bitmap, index % width, Math.floor(index / width));
      });
      return bitmap;
    },
  };
}

/** Byte-mode capacity of QR versions 1 to 40 (ISO/IEC 18004:2006, table 7). */
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

type QrLevel = keyof typeof QR_BYTES;

function qrLevel({ ecLevel }: SymbolOptions): QrLevel {
  return typeof ecLevel === 'string' ? ecLevel : QR_LEVEL;
}

function letters(name: string, allowed: string) {
  return ({ ecLevel }: SymbolOptions): void => {
    if (ecLevel !== undefined && !(typeof ecLevel === 'string' && allowed.includes(ecLevel))) {
      throw new SymbolError(because('option-level', { code: name, choices: [...allowed].join(', ') }));
    }
  };
}

function qrBound(value: string, options: SymbolOptions): number | undefined {
  const bytes = utf8(value).length;
  const version = QR_BYTES[qrLevel(options)].findIndex((capacity) => bytes <= capacity);
  return version < 0 ? undefined : 21 + 4 * version;
}

function dataMatrixText(value: string, { shape = 'square' }: SymbolOptions): MatrixSymbol {
  const bytes = utf8(value);
  // Plain ASCII needs no ECI, because it is the same in every character set.
  return dataMatrix([...bytes], shape, bytes.length === value.length ? undefined : ECI_UTF8);
}

/** An element string for bwip-js, with FNC1 spelt out. Nothing is escaped, because CSET 82 has no circumflex. */
function gs1Text(value: string): string {
  const { data } = elementString(value);
  return `^FNC1${data.map((code) => (code === FNC1 ? '^FNC1' : String.fromCharCode(code))).join('')}`;
}

/** Rows and columns of rMQR (ISO/IEC 23941), the least area first. */
const RMQR_VERSIONS = [
  ...[7, 9, 11, 13, 15, 17].flatMap((rows) =>
    [43, 59, 77, 99, 139].map((columns) => [rows, columns] as const),
  ),
  [11, 27] as const,
  [13, 27] as const,
]
  .toSorted(([a, b], [c, d]) => a * b - c * d)
  .map(([rows, columns]) => `R${rows}x${columns}`);

function rmqr(value: string, { version, ecLevel = 'M' }: SymbolOptions): MatrixSymbol {
  const text = utf8(value).toString('latin1');
  const options = { binarytext: true, eclevel: String(ecLevel) };
  const versions = version === undefined ? RMQR_VERSIONS : [version];
  for (const [index, one] of versions.entries()) {
    try {
      return matrix('rectangularmicroqrcode', text, { ...options, version: one });
    } catch (error) {
      if (!(error instanceof SymbolError) || index === versions.length - 1) throw error;
    }
  }
  throw new SymbolError(because('rmqr-none', {}));
}

export const MATRIX = {
  /** ISO/IEC 18004: quiet zone of 4 X. */
  qr: {
    kind: 'matrix',
    quiet: around(4),
    options: ['ecLevel'],
    checkOptions: letters('QR', 'LMQH'),
    // Bytes without an ECI, because phones take them for UTF-8, and many do not know ECIs.
    encode: (value, options) =>
      matrix('qrcode', utf8(value).toString('latin1'), { binarytext: true, eclevel: qrLevel(options) }),
    bound: qrBound,
  },
  /** ISO/IEC 18004: 2 X. */
  'micro-qr': {
    kind: 'matrix',
    quiet: around(2),
    options: ['ecLevel'],
    checkOptions: letters('Micro QR', 'LMQ'),
    encode: (value, { ecLevel }) =>
      matrix('microqrcode', utf8(value).toString('latin1'), {
        binarytext: true,
        ...(typeof ecLevel === 'string' ? { eclevel: ecLevel } : {}),
      }),
  },
  /** ISO/IEC 23941: 2 X. */
  rmqr: {
    kind: 'matrix',
    quiet: around(2),
    options: ['ecLevel', 'version'],
    checkOptions: (options) => {
      letters('rMQR', 'MH')(options);
      if (options.version !== undefined && !RMQR_VERSIONS.includes(options.version)) {
        throw new SymbolError(because('option-version', { code: 'rMQR', choices: RMQR_VERSIONS.join(', ') }));
      }
    },
    encode: rmqr,
  },
  'gs1-qr': {
    kind: 'matrix',
    quiet: around(4),
    gs1: true,
    options: ['ecLevel'],
    checkOptions: letters('QR', 'LMQH'),
    encode: (value, options) =>
      matrix('qrcode', gs1Text(value), { parsefnc: true, eclevel: qrLevel(options) }),
  },
  /** ISO/IEC 16022: 1 X. */
  datamatrix: {
    kind: 'matrix',
    quiet: around(1),
    options: ['shape'],
    encode: dataMatrixText,
  },
  'gs1-datamatrix': {
    kind: 'matrix',
    quiet: around(1),
    gs1: true,
    options: ['shape'],
    encode: (value, { shape = 'square' }) => dataMatrix([FNC1, ...elementString(value).data], shape),
  },
  /** ISO/IEC 24778: no quiet zone. */
  aztec: {
    kind: 'matrix',
    quiet: around(0),
    options: ['ecLevel'],
    checkOptions: ({ ecLevel }) => {
      if (ecLevel !== undefined && !(typeof ecLevel === 'number' && ecLevel >= 5)) {
        throw new SymbolError(because('option-level-percent', { code: 'Aztec', least: 5, most: 95 }));
      }
    },
    encode: (value, { ecLevel }) => {
      const { text, options } = eciText(value);
      return matrix('azteccode', text, {
        ...options,
        ...(ecLevel === undefined ? {} : { eclevel: String(ecLevel) }),
      });
    },
  },
} satisfies Readonly<Record<string, SymbologyRules>>;
