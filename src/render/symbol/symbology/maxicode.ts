/**
 * Encodes and draws MaxiCode (ISO/IEC 16023): 33 rows of hexagons around a bull's eye, in one fixed size. It is
 * drawn for the printer's resolution, because a hexagon is not a whole number of dots.
 */
import { because } from '../../../contract/reason.ts';
import { type Bitmap, blacken, createBitmap } from '../../image/bitmap.ts';
import { bwipDark, SymbolError } from '../bwip.ts';
import type { MaxiCodeSymbol, QuietZone, SymbologyRules } from './rules.ts';
import { eciText } from './text.ts';

/** ISO/IEC 16023: the middles of the first and the last hexagon of a row are 25.5 mm apart. */
const PITCH = 25.5 / 29;
const COLUMNS = 30;
const ROWS = 33;
const ROW_PITCH = (PITCH * Math.sqrt(3)) / 2;
const HEX_HEIGHT = (2 * PITCH) / Math.sqrt(3);
/** A hexagon is drawn at this share of its cell's size, because ink spreads. */
const FILL = 0.9;
/** Radii at which the bull's eye changes between dark and light, from the middle, mm. */
const RINGS = [0.51, 1.18, 1.86, 2.53, 3.2, 3.87] as const;

/** Quiet zone: a hexagon's width at the sides, a row above and below. */
const QUIET: QuietZone = { unit: 'mm', left: PITCH, right: PITCH, top: ROW_PITCH, bottom: ROW_PITCH };

/** The size without quiet zones, dots. */
export function maxiCodeSize(dpi: number): { width: number; height: number } {
  const dots = (mm: number) => Math.ceil((mm * dpi) / 25.4);
  return { width: dots(COLUMNS * PITCH), height: dots((ROWS - 1) * ROW_PITCH + HEX_HEIGHT) };
}

export function maxiCodeBitmap(symbol: MaxiCodeSymbol, dpi: number): Bitmap {
  const { width, height } = maxiCodeSize(dpi);
  const bitmap = createBitmap(width, height);
  const perMm = dpi / 25.4;
  const paint = (x: number, y: number, reach: number, inside: (dx: number, dy: number) => boolean) => {
    for (let row = Math.floor(y - reach); row <= y + reach; row++) {
      for (let column = Math.floor(x - reach); column <= x + reach; column++) {
        if (column < 0 || row < 0 || column >= width || row >= height) continue;
        if (inside(Math.abs(column + 0.5 - x), Math.abs(row + 0.5 - y))) blacken(bitmap, column, row);
      }
    }
  };
  const half = (PITCH / 2) * FILL * perMm;
  const tip = (HEX_HEIGHT / 2) * FILL * perMm;
  const rowAt = (row: number) => (HEX_HEIGHT / 2 + row * ROW_PITCH) * perMm;
  for (const module of symbol.dark) {
    const row = Math.floor(module / COLUMNS);
    const x = ((module % COLUMNS) + (row % 2 === 0 ? 0.5 : 1)) * PITCH * perMm;
    // A hexagon that stands on a corner. Its sides are upright as far as half of `tip`, and from there slope to the corner.
    paint(x, rowAt(row), tip + 1, (dx, dy) => dx <= half && dy <= tip - (dx / half) * (tip / 2));
  }
  // The bull's eye is around the middle of the 15th hexagon of the middle row.
  const edges = RINGS.map((radius) => radius * perMm);
  const outer = edges.at(-1) ?? 0;
  paint(14.5 * PITCH * perMm, rowAt(16), outer + 1, (dx, dy) => {
    const ring = edges.findIndex((edge) => Math.hypot(dx, dy) <= edge);
    return ring >= 0 && ring % 2 === 1;
  });
  return bitmap;
}

const MODES = [2, 3, 4, 5, 6];

export const MAXICODE = {
  maxicode: {
    kind: 'maxicode',
    quiet: QUIET,
    options: ['mode'],
    checkOptions: ({ mode }) => {
      if (mode !== undefined && !MODES.includes(mode)) throw new SymbolError(because('maxicode-modes', {}));
    },
    encode: (value, { mode = 4 }): MaxiCodeSymbol => {
      const { text, options } = eciText(value);
      return { kind: 'maxicode', dark: bwipDark('maxicode', text, { ...options, mode: String(mode) }) };
    },
  },
} satisfies Readonly<Record<string, SymbologyRules>>;
