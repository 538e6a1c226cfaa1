/** Symbologies of one row of bars for data in general: Code 128, Code 39, Code 93, Codabar, ITF, MSI. */
import { because } from '../../../contract/reason.ts';
import {
  code11Checks,
  deutschePost,
  endsWithGs1,
  gs1,
  luhn,
  mod11,
  mod16,
  mod43,
} from '../../../values/check-digits.ts';
import { bwipWidths, SymbolError, wrongCheckDigit } from '../bwip.ts';
import { code128Widths, encodeCode128, encodeInSet, FNC1 } from '../code128.ts';
import { elementString } from '../gs1.ts';
import {
  beside,
  type LinearSymbol,
  linear,
  requireValue,
  type SymbolOptions,
  type SymbologyRules,
} from './rules.ts';

function code128Symbol(input: readonly number[], text: string, options: SymbolOptions = {}): LinearSymbol {
  const { codeSet = 'auto' } = options;
  const symbol = codeSet === 'auto' ? encodeCode128(input) : encodeInSet(input, codeSet);
  if (symbol === null)
    throw new SymbolError(because('characters-lacking', { code: `Code 128 set ${codeSet}` }));
  return {
    kind: 'linear',
    modules: symbol.modules,
    wides: 0,
    widths: () => code128Widths(symbol),
    native: symbol.plain ? { symbology: 'code128', runs: symbol.runs } : undefined,
    text,
  };
}

function latin1(value: string): number[] {
  return Array.from(value, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code > 255) throw new SymbolError(because('latin1-only', { code: 'Code 128' }));
    return code;
  });
}

function gs1Code128(value: string): LinearSymbol {
  const { data, text } = elementString(value);
  // GS1 General Specifications, GS1-128.
  if (data.length > 48) throw new SymbolError(because('too-long', { code: 'GS1-128', most: 48 }));
  return code128Symbol([FNC1, ...data], text);
}

/** ISO/IEC 16388, full ASCII: a character that Code 39 lacks is written as a pair of characters that it has. */
function code39Pair(code: number): string {
  const letter = (lead: string, index: number) => lead + String.fromCharCode(65 + index);
  const char = String.fromCharCode(code);
  if (/[0-9A-Z .-]/.test(char)) return char;
  if (code === 0) return '%U';
  if (code <= 26) return letter('$', code - 1);
  if (code <= 31) return letter('%', code - 27);
  if (code <= 47) return letter('/', code - 33);
  if (code === 58) return '/Z';
  if (code <= 63) return letter('%', code - 59 + 5);
  if (code === 64) return '%V';
  if (code <= 95) return letter('%', code - 91 + 10);
  if (code === 96) return '%W';
  return code <= 122 ? letter('+', code - 97) : letter('%', code - 123 + 15);
}

function code39(value: string, { fullAscii, checkDigit: kind }: SymbolOptions): LinearSymbol {
  if (fullAscii === true) {
    requireValue(value, /^[\0-\x7f]*$/, because('ascii-only', { code: 'Code 39 full ASCII' }));
  } else {
    requireValue(
      value,
      /^[0-9A-Z\-. $/+%]*$/,
      because('capitals-or-full', { code: 'Code 39', marks: '-. $/+%' }),
    );
  }
  const body = fullAscii === true ? Array.from(value, (c) => code39Pair(c.charCodeAt(0))).join('') : value;
  const check = kind === 'mod43' ? mod43(body) : '';
  const data = body + check;
  const characters = data.length + 2;
  return {
    kind: 'linear',
    // Each character, start and stop included, has six narrow and three wide elements. Between two is a narrow gap.
    modules: 7 * characters - 1,
    wides: 3 * characters,
    widths: () => bwipWidths('code39', data),
    native: { symbology: 'code39', data },
    text: value + check,
  };
}

function code93(value: string): LinearSymbol {
  requireValue(value, /^[\0-\x7f]*$/, because('ascii-only', { code: 'Code 93' }));
  return linear(bwipWidths('code93ext', value, { includecheck: true }), value);
}

function codabar(value: string, options: SymbolOptions): LinearSymbol {
  requireValue(value, /^[A-D]?[0-9\-$:/.+]+[A-D]?$/, because('codabar-characters', {}));
  const framed = /^[A-D]/.test(value) && /[A-D]$/.test(value);
  if (!framed && /[A-D]/.test(value)) {
    throw new SymbolError(because('codabar-ends', {}));
  }
  const whole = framed ? value : `A${value}A`;
  const check = options.checkDigit === 'mod16' ? mod16(whole) : '';
  const data = whole.slice(0, -1) + check + whole.slice(-1);
  return twoWidths(bwipWidths('rationalizedCodabar', data), framed ? data : data.slice(1, -1));
}

/** A symbol of a symbology with two widths, from bwip-js's widths. */
function twoWidths(widths: readonly number[], text: string): LinearSymbol {
  const wides = widths.filter((width) => width > 1).length;
  return {
    kind: 'linear',
    modules: widths.length - wides,
    wides,
    widths: () => widths,
    native: undefined,
    text,
  };
}

function interleaved(digits: string, text: string, bearer?: SymbolOptions['bearer']): LinearSymbol {
  return {
    kind: 'linear',
    // Start 4 narrow; a digit 3 narrow, 2 wide; stop 2 narrow, 1 wide.
    modules: 3 * digits.length + 6,
    wides: 2 * digits.length + 1,
    widths: () => bwipWidths('interleaved2of5', digits),
    native: { symbology: 'itf', data: digits },
    text,
    ...(bearer === undefined || bearer === 'none' ? {} : { bearer }),
  };
}

function itf(value: string, { checkDigit: kind, bearer }: SymbolOptions): LinearSymbol {
  requireValue(value, /^\d+$/, because('digits-only', { code: 'ITF' }));
  const digits = kind === 'mod10' ? value + gs1(value) : value;
  if (digits.length % 2 !== 0) {
    throw new SymbolError(because('digits-even', { code: 'ITF' }));
  }
  return interleaved(digits, digits, bearer);
}

function itf14(value: string, { bearer }: SymbolOptions): LinearSymbol {
  requireValue(
    value,
    /^\d{13,14}$/,
    because('digits-or-checked', { code: 'ITF-14', digits: 13, checked: 14 }),
  );
  if (value.length === 14 && !endsWithGs1(value)) {
    throw wrongCheckDigit(gs1(value.slice(0, -1)));
  }
  const digits = value.length === 14 ? value : value + gs1(value);
  return interleaved(digits, digits, bearer ?? 'bars');
}

/** Deutsche Post: ITF with a check digit of its own. The digits are printed in groups. */
function deutschePostCode(name: string, length: number, groups: RegExp, format: string) {
  return (value: string): LinearSymbol => {
    requireValue(
      value,
      new RegExp(`^\\d{${length},${length + 1}}$`),
      because('digits-or-checked', { code: `a ${name}`, digits: length, checked: length + 1 }),
    );
    const digits = value.slice(0, length) + deutschePost(value.slice(0, length));
    if (value.length > length && value !== digits) throw wrongCheckDigit(digits.slice(-1));
    return interleaved(digits, digits.replace(groups, format));
  };
}

function msi(value: string, { checkDigit: kind }: SymbolOptions): LinearSymbol {
  requireValue(value, /^\d+$/, because('digits-only', { code: 'MSI' }));
  let digits = value;
  if (kind === 'mod11' || kind === 'mod1110') {
    const check = mod11(digits);
    if (check === undefined) throw new SymbolError(because('check-digit-none', {}));
    digits += check;
  }
  if (kind === 'mod10' || kind === 'mod1010' || kind === 'mod1110') digits += luhn(digits);
  if (kind === 'mod1010') digits += luhn(digits);
  return twoWidths(bwipWidths('msi', digits), digits);
}

function code11(value: string, { checkDigit: kind }: SymbolOptions): LinearSymbol {
  requireValue(value, /^[0-9-]+$/, because('digits-dashes', { code: 'Code 11' }));
  // bwip-js would write a check character that is a dash as two digits.
  const data = kind === 'mod11' ? value + code11Checks(value) : value;
  return twoWidths(bwipWidths('code11', data), data);
}

function telepen(value: string): LinearSymbol {
  requireValue(value, /^[\0-\x7f]*$/, because('ascii-only', { code: 'Telepen' }));
  return linear(bwipWidths('telepen', value), value);
}

function onlyChecks(...allowed: string[]) {
  return ({ checkDigit: kind }: SymbolOptions): void => {
    if (kind !== undefined && kind !== 'none' && !allowed.includes(kind)) {
      throw new SymbolError(because('option-check-digit', { choices: ['none', ...allowed].join(', ') }));
    }
  };
}

export const LINEAR = {
  /** ISO/IEC 15417: quiet zones of 10 X. */
  code128: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['codeSet'],
    encode: (value, options) => code128Symbol(latin1(value), value, options),
  },
  /** GS1 General Specifications: as Code 128. */
  'gs1-128': { kind: 'linear', command: true, quiet: beside(10), gs1: true, options: [], encode: gs1Code128 },
  /** ISO/IEC 16388: 10 X; ratio 2 to 3. */
  code39: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['fullAscii', 'checkDigit', 'ratio'],
    checkOptions: onlyChecks('mod43'),
    ratio: 3,
    encode: code39,
  },
  /** AIM BC5 (Uniform Symbology Specification Code 93): 10 X. Its two check characters are not printed. */
  code93: { kind: 'linear', quiet: beside(10), options: [], encode: code93 },
  /** AIM BC3, EN 798: 10 X; ratio 2 to 3. */
  codabar: {
    kind: 'linear',
    quiet: beside(10),
    options: ['checkDigit', 'ratio'],
    checkOptions: onlyChecks('mod16'),
    ratio: 3,
    encode: codabar,
  },
  /** ISO/IEC 16390: 10 X; ratio 2 to 3. */
  itf: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['checkDigit', 'ratio', 'bearer'],
    checkOptions: onlyChecks('mod10'),
    ratio: 3,
    encode: itf,
  },
  /** GS1 General Specifications: 10 X; ratio 2.25 to 3, 2.5 aimed at; bearer bars. */
  itf14: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['ratio', 'bearer'],
    ratio: 2.5,
    encode: itf14,
  },
  /** MSI has no standard of ISO or AIM. Its maker uses a ratio of 2:1 and quiet zones of 12 X. */
  msi: {
    kind: 'linear',
    quiet: beside(12),
    options: ['checkDigit', 'ratio'],
    checkOptions: onlyChecks('mod10', 'mod11', 'mod1010', 'mod1110'),
    ratio: 2,
    encode: msi,
  },
  /** Code 11 has no standard of ISO or AIM; quiet zones of 10 X. */
  code11: {
    kind: 'linear',
    quiet: beside(10),
    options: ['checkDigit', 'ratio'],
    checkOptions: onlyChecks('mod11'),
    ratio: 2.5,
    encode: code11,
  },
  /** Telepen of SB Electronic Systems: 3:1, quiet zones of 10 X. */
  telepen: { kind: 'linear', quiet: beside(10), options: [], encode: telepen },
  /** Deutsche Post, "Leitcode und Identcode": Code 2/5 interleaved, 10 X. */
  leitcode: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['ratio'],
    ratio: 3,
    encode: deutschePostCode('Leitcode', 13, /^(.{5})(.{3})(.{3})(.{2})(.)$/, '$1.$2.$3.$4 $5'),
  },
  identcode: {
    kind: 'linear',
    command: true,
    quiet: beside(10),
    options: ['ratio'],
    ratio: 3,
    encode: deutschePostCode('Identcode', 11, /^(.{2})(.{3})(.{3})(.{3})(.)$/, '$1.$2 $3.$4 $5'),
  },
} satisfies Readonly<Record<string, SymbologyRules>>;
