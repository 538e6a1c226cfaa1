/**
 * Symbologies of pharmacies and hospitals: numbers of medicines in Code 39, Laetus' Pharmacode, and HIBC. HIBC is data of a
 * certain form, with a check character, in a general-purpose symbology.
 */

import { because } from '../../../contract/reason.ts';
import { mod43 } from '../../../values/check-digits.ts';
import { bwipWidths, SymbolError, wrongCheckDigit } from '../bwip.ts';
import { LINEAR } from './linear.ts';
import { MATRIX } from './matrix.ts';
import { beside, type LinearSymbol, linear, requireValue, type SymbologyRules } from './rules.ts';

/** Check digit of a Pharmazentralnummer of 8 digits (IFA): weights 1 to 7, modulo 11. No number has 10 as its check digit. */
function pznCheck(digits: string): number {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) sum += (at + 1) * (digits.charCodeAt(at) - 48);
  return sum % 11;
}

function pzn(value: string): LinearSymbol {
  requireValue(value, /^\d{7,8}$/, because('digits-or-checked', { code: 'a PZN', digits: 7, checked: 8 }));
  const check = pznCheck(value.slice(0, 7));
  if (check === 10) throw new SymbolError(because('pzn-none', {}));
  const digits = `${value.slice(0, 7)}${check}`;
  if (value.length === 8 && value !== digits) throw wrongCheckDigit(check);
  return { ...LINEAR.code39.encode(`-${digits}`, {}), text: `PZN-${digits}` };
}

/** The 32 digits of Code 32; vowels are not among them. */
const BASE_32 = '0123456789BCDFGHJKLMNPQRSTUVWXYZ';

/** Check digit of Code 32: every second digit is doubled, all resulting digits are added, modulo 10. */
function code32Check(digits: string): number {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(at) - 48;
    sum += at % 2 === 0 ? digit : Math.floor(digit / 5) + ((2 * digit) % 10);
  }
  return sum % 10;
}

function code32(value: string): LinearSymbol {
  requireValue(value, /^A?\d{8,9}$/, because('code32-digits', {}));
  const given = value.replace(/^A/, '');
  const digits = `${given.slice(0, 8)}${code32Check(given.slice(0, 8))}`;
  if (given.length === 9 && given !== digits) throw wrongCheckDigit(digits.slice(-1));
  let packed = '';
  for (let left = Number(digits); packed.length < 6; left = Math.floor(left / 32)) {
    packed = BASE_32.charAt(left % 32) + packed;
  }
  return { ...LINEAR.code39.encode(packed, {}), text: `A${digits}` };
}

function pharmacode(value: string): LinearSymbol {
  requireValue(value, /^[1-9]\d{0,5}$/, because('pharmacode-range', {}));
  if (Number(value) < 3 || Number(value) > 131_070) {
    throw new SymbolError(because('pharmacode-range', {}));
  }
  return linear(bwipWidths('pharmacode', value), value);
}

/** The data with the flag in front and the check character behind. @throws SymbolError */
function hibcData(value: string): string {
  requireValue(value, /^[0-9A-Z\-. $/+%]+$/, because('capitals-only', { code: 'HIBC', marks: '-. $/+%' }));
  const flagged = value.startsWith('+') ? value : `+${value}`;
  if (flagged.length < 2) throw new SymbolError(because('hibc-empty', {}));
  return flagged + mod43(flagged);
}

/** The human-readable line of HIBC: between asterisks, with a blank check character shown as `_`. */
function hibcText(data: string): string {
  return `*${data.replace(/ $/, '_')}*`;
}

export const HEALTH = {
  /** IFA, PZN in Code 39: ratio 2.5 to 3. */
  pzn: { kind: 'linear', command: true, quiet: beside(10), options: ['ratio'], ratio: 2.5, encode: pzn },
  /** Italy's Ministry of Health, "bollini farmaceutici": Code 39. */
  code32: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['ratio'],
    ratio: 2.5,
    encode: code32,
  },
  /** Laetus Pharmacode guide: quiet zones of 6 mm. */
  pharmacode: {
    kind: 'linear',
    quiet: { unit: 'mm', left: 6, right: 6, top: 0, bottom: 0 },
    options: [],
    encode: pharmacode,
  },
  /** ANSI/HIBC 2, in the symbology that each name says. */
  'hibc-code128': {
    kind: 'linear',
    command: true,
    quiet: LINEAR.code128.quiet,
    options: [],
    encode: (value) => {
      const data = hibcData(value);
      return { ...LINEAR.code128.encode(data, {}), text: hibcText(data) };
    },
  },
  'hibc-code39': {
    kind: 'linear',
    command: true,
    quiet: LINEAR.code39.quiet,
    options: ['ratio'],
    ratio: LINEAR.code39.ratio,
    encode: (value) => {
      const data = hibcData(value);
      return { ...LINEAR.code39.encode(data, {}), text: hibcText(data) };
    },
  },
  'hibc-datamatrix': {
    kind: 'matrix',
    quiet: MATRIX.datamatrix.quiet,
    options: ['shape'],
    encode: (value, options) => MATRIX.datamatrix.encode(hibcData(value), options),
  },
  'hibc-qr': {
    kind: 'matrix',
    quiet: MATRIX.qr.quiet,
    options: ['ecLevel'],
    checkOptions: MATRIX.qr.checkOptions,
    encode: (value, options) => MATRIX.qr.encode(hibcData(value), options),
    bound: (value, options) => MATRIX.qr.bound(hibcData(value), options),
  },
  'hibc-aztec': {
    kind: 'matrix',
    quiet: MATRIX.aztec.quiet,
    options: ['ecLevel'],
    checkOptions: MATRIX.aztec.checkOptions,
    encode: (value, options) => MATRIX.aztec.encode(hibcData(value), options),
  },
} satisfies Readonly<Record<string, SymbologyRules>>;
