/** The GS1 DataBar family (ISO/IEC 24724). None needs a quiet zone, because their guards have a light and a dark element. */
import { because } from '../../../contract/reason.ts';
import { bwipRows, bwipWidths, SymbolError } from '../bwip.ts';
import { CHECKED, elementString, encoderString } from '../gs1.ts';
import { around, type LinearSymbol, linear, type MatrixSymbol, type SymbologyRules } from './rules.ts';
import { stacked } from './stacked.ts';

/** `(01)04012345678901`, or the 14 digits alone. */
function gtin(value: string): string {
  const whole = /^\d{14}$/.test(value) ? `(01)${value}` : value;
  const { text } = elementString(whole);
  if (!/^\(01\)\d{14}$/.test(text)) throw new SymbolError(because('databar-gtin', {}));
  return text;
}

function limitedGtin(value: string): string {
  const text = gtin(value);
  if (!/^\(01\)[01]/.test(text)) {
    throw new SymbolError(because('databar-limited', {}));
  }
  return text;
}

function row(bcid: string, read: (value: string) => string) {
  return (value: string): LinearSymbol => {
    const text = read(value);
    return linear(bwipWidths(bcid, text), text);
  };
}

function expanded(value: string): LinearSymbol {
  const { text } = elementString(value);
  return linear(bwipWidths('databarexpanded', encoderString(value), CHECKED), text);
}

function rowsOf(bcid: string, heights: readonly number[]) {
  return (value: string): MatrixSymbol => stacked(bwipRows(bcid, gtin(value)), (at) => heights[at] ?? 1);
}

/** Rows of 34 X with three separators of 1 X in between. */
function expandedStacked(value: string, segments = 4): MatrixSymbol {
  elementString(value);
  const options = { ...CHECKED, segments: String(segments) };
  const rows = bwipRows('databarexpandedstacked', encoderString(value), options);
  return stacked(rows, (at) => (at % 4 === 0 ? 34 : 1));
}

export const DATABAR = {
  /** At least 33 X high, to be read in every direction. */
  databar: {
    kind: 'linear',
    quiet: around(0),
    gs1: true,
    options: [],
    leastHeight: 33,
    encode: row('databaromni', gtin),
  },
  /** At least 13 X. */
  'databar-truncated': {
    kind: 'linear',
    quiet: around(0),
    gs1: true,
    options: [],
    leastHeight: 13,
    encode: row('databartruncated', gtin),
  },
  /** Rows of 5 X and 7 X. */
  'databar-stacked': {
    kind: 'stacked',
    quiet: around(0),
    gs1: true,
    options: [],
    encode: rowsOf('databarstacked', [5, 1, 7]),
  },
  /** Rows of 33 X. */
  'databar-stacked-omni': {
    kind: 'stacked',
    quiet: around(0),
    gs1: true,
    options: [],
    encode: rowsOf('databarstackedomni', [33, 1, 1, 1, 33]),
  },
  /** At least 10 X. */
  'databar-limited': {
    kind: 'linear',
    quiet: around(0),
    gs1: true,
    options: [],
    leastHeight: 10,
    encode: row('databarlimited', limitedGtin),
  },
  /** At least 34 X. */
  'databar-expanded': {
    kind: 'linear',
    quiet: around(0),
    gs1: true,
    options: [],
    leastHeight: 34,
    encode: expanded,
  },
  'databar-expanded-stacked': {
    kind: 'stacked',
    quiet: around(0),
    gs1: true,
    options: ['columns'],
    checkOptions: ({ columns }) => {
      if (columns !== undefined && (columns % 2 !== 0 || columns > 22)) {
        throw new SymbolError(because('databar-columns', { least: 2, most: 22 }));
      }
    },
    encode: (value, { columns }) => expandedStacked(value, columns),
  },
} satisfies Readonly<Record<string, SymbologyRules>>;
