/** EAN and UPC with their add-ons (ISO/IEC 15420; GS1 General Specifications). */
import { because } from '../../../contract/reason.ts';
import { endsWithGs1, gs1 } from '../../../values/check-digits.ts';
import { expandUpce } from '../../../values/upce.ts';
import { bwipWidths, SymbolError, wrongCheckDigit } from '../bwip.ts';

import { beside, type LinearSymbol, type RetailParts, requireValue, type SymbologyRules } from './rules.ts';

/** Gap between a symbol and its add-on, modules. EAN allows 7 to 12, and UPC 9 to 12, so 9 is right for both. */
const GAP = 9;
/** Quiet zone after an add-on, modules. */
const AFTER_ADD_ON = 5;

/** `4006381333931+12`: the digits of the symbol, and those of its add-on. */
function split(value: string, name: string): { main: string; addOn: string | undefined } {
  const [main = '', addOn, ...more] = value.split('+');
  if (more.length > 0 || (addOn !== undefined && !/^(?:\d{2}|\d{5})$/.test(addOn))) {
    throw new SymbolError(because('add-on', { code: name }));
  }
  return { main, addOn };
}

/** The digits with their check digit. It is added if it is missing, and checked if it is given. */
function complete(digits: string, length: number, name: string): string {
  requireValue(
    digits,
    new RegExp(`^\\d{${length - 1},${length}}$`),
    because('digits-or-checked', { code: name, digits: length - 1, checked: length }),
  );
  if (digits.length < length) return digits + gs1(digits);
  if (!endsWithGs1(digits)) throw wrongCheckDigit(gs1(digits.slice(0, -1)));
  return digits;
}

interface Shape {
  readonly bcid: string;
  readonly modules: number;
  readonly quiet: readonly [left: number, right: number];
  readonly parts: Omit<RetailParts, 'modules' | 'addOn'>;
  readonly native: LinearSymbol['native'];
}

function retail(digits: string, addOn: string | undefined, shape: Shape): LinearSymbol {
  const at = shape.modules + GAP;
  // A 5-digit add-on: 4 modules of guard, 5 digits of 7, 4 separators of 2.
  const modules = addOn === undefined ? 0 : addOn.length === 5 ? 47 : 20;
  const [left, right] = shape.quiet;
  return {
    kind: 'linear',
    modules: addOn === undefined ? shape.modules : at + modules,
    wides: 0,
    widths: () => bwipWidths(shape.bcid, digits),
    native: shape.native,
    text: addOn === undefined ? digits : `${digits} ${addOn}`,
    quiet: beside(left, addOn === undefined ? right : AFTER_ADD_ON),
    retail: {
      ...shape.parts,
      modules: shape.modules,
      ...(addOn === undefined
        ? {}
        : {
            addOn: { at, modules, widths: () => bwipWidths(`ean${addOn.length}`, addOn), text: addOn },
          }),
    },
  };
}

function thin(...places: readonly number[]): RetailParts['guards'] {
  return places.map((at) => ({ at, width: 1 }));
}

/** Widths of a digit's four elements. On the left they begin with a space (number set A), on the right with a bar (set C). */
const DIGITS = ['3211', '2221', '2122', '1411', '1132', '1231', '1114', '1312', '1213', '3112'];

/** The bars of the first and the last digit of a UPC-A. */
function outerBars(digits: string): RetailParts['guards'] {
  const widths = (digit: string) => Array.from(DIGITS[Number(digit)] ?? '', Number);
  const [a = 0, b = 0, c = 0, d = 0] = widths(digits.slice(0, 1));
  const [e = 0, f = 0, g = 0] = widths(digits.slice(11));
  return [
    { at: 3 + a, width: b },
    { at: 3 + a + b + c, width: d },
    { at: 85, width: e },
    { at: 85 + e + f, width: g },
  ];
}

function ean13(value: string): LinearSymbol {
  const { main, addOn } = split(value, 'EAN-13');
  const digits = complete(main, 13, 'EAN-13');
  return retail(digits, addOn, {
    bcid: 'ean13',
    modules: 95,
    quiet: [11, 7],
    native: { symbology: 'ean13', digits },
    parts: {
      guards: thin(0, 2, 46, 48, 92, 94),
      left: digits.slice(0, 1),
      groups: [
        { text: digits.slice(1, 7), middle: 24 },
        { text: digits.slice(7), middle: 71 },
      ],
    },
  });
}

function ean8(value: string): LinearSymbol {
  const { main, addOn } = split(value, 'EAN-8');
  const digits = complete(main, 8, 'EAN-8');
  return retail(digits, addOn, {
    bcid: 'ean8',
    modules: 67,
    quiet: [7, 7],
    native: undefined,
    parts: {
      guards: thin(0, 2, 32, 34, 64, 66),
      groups: [
        { text: digits.slice(0, 4), middle: 17 },
        { text: digits.slice(4), middle: 50 },
      ],
    },
  });
}

function upca(value: string): LinearSymbol {
  const { main, addOn } = split(value, 'UPC-A');
  const digits = complete(main, 12, 'UPC-A');
  return retail(digits, addOn, {
    bcid: 'upca',
    modules: 95,
    quiet: [9, 9],
    // The same bars as those of an EAN-13 that starts with 0.
    native: { symbology: 'ean13', digits: `0${digits}` },
    parts: {
      // The bars of the first and the last digit are as long as the guards.
      guards: [...thin(0, 2, 46, 48, 92, 94), ...outerBars(digits)],
      left: digits.slice(0, 1),
      right: digits.slice(11),
      groups: [
        { text: digits.slice(1, 6), middle: 28 },
        { text: digits.slice(6, 11), middle: 67 },
      ],
    },
  });
}

function upce(value: string): LinearSymbol {
  const { main, addOn } = split(value, 'UPC-E');
  requireValue(main, /^(?:\d{6}|[01]\d{6,7})$/, because('upce-digits', {}));
  const seven = main.length === 6 ? `0${main}` : main.slice(0, 7);
  const digits = `${seven}${gs1(expandUpce(seven))}`;
  if (main.length === 8 && main !== digits) throw wrongCheckDigit(digits.slice(-1));
  return retail(digits, addOn, {
    bcid: 'upce',
    modules: 51,
    quiet: [9, 7],
    native: undefined,
    parts: {
      guards: thin(0, 2, 46, 48, 50),
      left: digits.slice(0, 1),
      right: digits.slice(7),
      groups: [{ text: digits.slice(1, 7), middle: 24 }],
    },
  });
}

/** Quiet zones: GS1 General Specifications, EAN/UPC. */
export const RETAIL = {
  ean13: { kind: 'linear', command: true, quiet: beside(11, 7), options: [], encode: ean13 },
  ean8: { kind: 'linear', quiet: beside(7), options: [], encode: ean8 },
  upca: { kind: 'linear', command: true, quiet: beside(9), options: [], encode: upca },
  upce: { kind: 'linear', quiet: beside(9, 7), options: [], encode: upce },
} satisfies Readonly<Record<string, SymbologyRules>>;
