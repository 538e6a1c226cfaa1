/**
 * Decimal numbers in field values, exactly: prices and weights are not binary fractions, and a label must not
 * show 2.67 for 2.675 because a double could not hold it.
 */

/** Digits of a number: arithmetic on thousands of them takes seconds, and no price or serial number has so many. */
export const MOST_DIGITS = 100;

export interface Decimal {
  /** The number times 10^scale. */
  readonly units: bigint;
  readonly scale: number;
}

/** A plain decimal number, `-12.50`; null for anything else, an exponent or more than `MOST_DIGITS` included. */
export function parseDecimal(text: string): Decimal | null {
  if (text.trim().length > MOST_DIGITS + 2) return null;
  const match = /^\s*([+-]?)(\d+)(?:\.(\d+))?\s*$/.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = ''] = match;
  if (whole.length + fraction.length > MOST_DIGITS) return null;
  const units = BigInt(whole + fraction);
  return { units: sign === '-' ? -units : units, scale: fraction.length };
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: rescaled(a, scale) + rescaled(b, scale), scale };
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

function rescaled({ units, scale }: Decimal, to: number): bigint {
  return units * 10n ** BigInt(to - scale);
}

/** Rounded to `places`, halves away from zero, as trade does. */
export function roundDecimal({ units, scale }: Decimal, places: number): Decimal {
  if (places >= scale) return { units: rescaled({ units, scale }, places), scale: places };
  const step = 10n ** BigInt(scale - places);
  const half = units < 0n ? -step / 2n : step / 2n;
  return { units: (units + half) / step, scale: places };
}

/** A finite number in digits without an exponent: `1e-7` is 0.0000001. */
export function numberText(number: number): string {
  const text = String(number);
  const [mantissa = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const sign = number < 0 ? '-' : '';
  return point > 0 ? sign + digits.padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${digits}`;
}

/** `1234567` as `1,234,567`. */
function grouped(digits: string, group: string): string {
  const first = digits.length % 3;
  const thousands = digits.slice(first).match(/\d{3}/g) ?? [];
  return (first === 0 ? thousands : [digits.slice(0, first), ...thousands]).join(group);
}

/** All of its digits; `point` between whole and fraction, `group` between thousands. */
export function decimalText({ units, scale }: Decimal, point = '.', group = ''): string {
  const text = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const whole = grouped(text.slice(0, text.length - scale), group);
  const fraction = scale === 0 ? '' : point + text.slice(text.length - scale);
  return (units < 0n ? '-' : '') + whole + fraction;
}
