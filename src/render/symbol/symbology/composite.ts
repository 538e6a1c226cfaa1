/**
 * GS1 Composite (ISO/IEC 24723): an EAN, UPC, GS1-128 or GS1 DataBar symbol with a small stacked one on top that holds
 * more AIs. The value has both parts, with a `|` between them: `(01)03612345678904|(11)990102`.
 *
 * The linear part has the height that its own standard asks for. It has no digits below; a text element can print them.
 */
import { because } from '../../../contract/reason.ts';
import { endsWithGs1, gs1 } from '../../../values/check-digits.ts';
import { bwipMatrix, SymbolError, wrongCheckDigit } from '../bwip.ts';
import { CHECKED, elementString, encoderString } from '../gs1.ts';
import { type MatrixSymbol, type QuietZone, requireValue, type SymbologyRules } from './rules.ts';
import { stacked } from './stacked.ts';

interface Linear {
  readonly bcid: string;
  /** The digits of the linear part's value, check digit included. If left out, the value is a GS1 element string. */
  readonly digits?: RegExp;
  /** Heights of the linear part's rows, modules, including the separator between the two parts. */
  readonly rows: readonly number[];
}

/** Encodes both parts. All rows of the upper part have the same height, which follows from the total height. */
function composite(value: string, { bcid, digits, rows }: Linear): MatrixSymbol {
  const parts = value.split('|');
  const [below = '', above = ''] = parts;
  if (parts.length !== 2) {
    throw new SymbolError(because('composite-parts', {}));
  }
  if (digits === undefined) elementString(below);
  else {
    requireValue(below, digits, because('composite-digits', {}));
    // The check digit of a UPC-E is that of the UPC-A that it stands for. It does not match the digits shown.
    if (bcid !== 'upcecomposite' && !endsWithGs1(below)) {
      throw wrongCheckDigit(gs1(below.slice(0, -1)));
    }
  }
  elementString(above);
  const text = `${encoderString(below)}|${encoderString(above)}`;
  const { width, height, modules } = bwipMatrix(bcid, text, CHECKED);
  const all = Array.from({ length: modules.length / width }, (_, row) =>
    modules.slice(row * width, (row + 1) * width),
  );
  const upper = all.length - rows.length;
  const tall = (height - rows.reduce((sum, row) => sum + row, 0)) / upper;
  return stacked(all, (at) => (at < upper ? tall : (rows[at - upper] ?? 1)));
}

function sides(left: number, right: number): QuietZone {
  return { unit: 'modules', left, right, top: 0, bottom: 0 };
}

function rules(part: Linear, quiet: QuietZone): SymbologyRules {
  return { kind: 'stacked', quiet, gs1: true, options: [], encode: (value) => composite(value, part) };
}

export const COMPOSITE = {
  'ean13-composite': rules({ bcid: 'ean13composite', digits: /^\d{13}$/, rows: [72] }, sides(11, 7)),
  'ean8-composite': rules({ bcid: 'ean8composite', digits: /^\d{8}$/, rows: [72] }, sides(7, 7)),
  'upca-composite': rules({ bcid: 'upcacomposite', digits: /^\d{12}$/, rows: [72] }, sides(9, 9)),
  'upce-composite': rules({ bcid: 'upcecomposite', digits: /^\d{8}$/, rows: [72] }, sides(9, 7)),
  'gs1-128-composite': rules({ bcid: 'gs1-128composite', rows: [1, 36] }, sides(10, 10)),
  'databar-composite': rules({ bcid: 'databaromnicomposite', rows: [1, 33] }, sides(1, 1)),
  'databar-stacked-composite': rules({ bcid: 'databarstackedcomposite', rows: [1, 5, 1, 7] }, sides(1, 1)),
  'databar-stacked-omni-composite': rules(
    { bcid: 'databarstackedomnicomposite', rows: [1, 33, 1, 1, 1, 33] },
    sides(1, 1),
  ),
  'databar-limited-composite': rules({ bcid: 'databarlimitedcomposite', rows: [1, 10] }, sides(1, 1)),
  'databar-expanded-composite': rules({ bcid: 'databarexpandedcomposite', rows: [1, 34] }, sides(1, 1)),
} as const;
