/** Check digits and characters: those of barcodes, and those that a filter adds to a value. */

const DIGITS = /^\d+$/;
const IN_CODE39 = /^[0-9A-Z\-. $/+%]*$/;
const CODE39 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%';
const CODABAR = '0123456789-$:/.+ABCD';
const CODE11 = '0123456789-';
const MOD37 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*';

/** The sum of the digits, each times its weight; weights are counted from the last digit on, and begin again. */
function weighted(digits: string, weights: readonly number[], product = (value: number) => value): number {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    sum += product(digit * (weights[at % weights.length] ?? 0));
  }
  return sum;
}

function toTen(sum: number): number {
  return (10 - (sum % 10)) % 10;
}

/** Mod 10 of GTIN, SSCC, EAN, UPC: weights 3 and 1 from the right (GS1 General Specifications). */
export function gs1(digits: string): number {
  return toTen(weighted(digits, [3, 1]));
}

/** Do the digits end with their own GS1 check digit? */
export function endsWithGs1(digits: string): boolean {
  return gs1(digits.slice(0, -1)) === digits.charCodeAt(digits.length - 1) - 48;
}

/** Every second digit doubled (ISO/IEC 7812-1): cards, IMEI, MSI. */
export function luhn(digits: string): string {
  return String(toTen(weighted(digits, [2, 1], (value) => (value > 9 ? value - 9 : value))));
}

/** MSI's with IBM's weights 2 to 7; undefined for the one value in eleven that has none. */
export function mod11(digits: string): string | undefined {
  const check = (11 - (weighted(digits, [2, 3, 4, 5, 6, 7]) % 11)) % 11;
  return check === 10 ? undefined : String(check);
}

/** Deutsche Post's, with weights 4 and 9 from the left. */
export function deutschePost(digits: string): string {
  return String(toTen(weighted(digits, digits.length % 2 === 0 ? [9, 4] : [4, 9])));
}

/** Code 39's optional check character (ISO/IEC 16388), of a value that has no others than Code 39's. */
export function mod43(value: string): string {
  let sum = 0;
  for (const char of value) sum += CODE39.indexOf(char);
  return CODE39.charAt(sum % 43);
}

/** Codabar's, over the data and both start and stop characters (AIM BC3). */
export function mod16(value: string): string {
  let sum = 0;
  for (const char of value) sum += CODABAR.indexOf(char);
  return CODABAR.charAt((16 - (sum % 16)) % 16);
}

/** Code 11's: one check character, and a second one over the first, by its standard from ten characters on. */
export function code11Checks(value: string, count = value.length < 10 ? 1 : 2): string {
  const check = (text: string, heaviest: number) => {
    let sum = 0;
    for (let at = 0; at < text.length; at++) {
      sum += (1 + (at % heaviest)) * CODE11.indexOf(text.charAt(text.length - 1 - at));
    }
    return CODE11.charAt(sum % 11);
  };
  const first = check(value, 10);
  return count === 1 ? first : first + check(value + first, 9);
}

/** ISO/IEC 7064 MOD 37-2: donation numbers of ISBT 128; undefined: a character has no value in it. */
function mod37(value: string): string | undefined {
  let sum = 0;
  for (const char of value) {
    const at = MOD37.indexOf(char);
    if (at < 0 || at === 36) return undefined;
    sum = ((sum + at) * 2) % 37;
  }
  return MOD37.charAt((38 - sum) % 37);
}

/** The kinds of the filter `checkdigit`, each of the whole value; undefined: there is none for the value. */
export const CHECK_DIGITS: Readonly<Record<string, (value: string) => string | undefined>> = {
  gs1: (value) => (DIGITS.test(value) ? String(gs1(value)) : undefined),
  luhn: (value) => (DIGITS.test(value) ? luhn(value) : undefined),
  mod43: (value) => (IN_CODE39.test(value) ? mod43(value) : undefined),
  'mod37-2': mod37,
};
