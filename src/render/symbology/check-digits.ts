/** Check digits and characters that a template can ask for. */
import { SymbolError } from '../bwip.ts';

export const CODE39_CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%';

/** Code 39's optional check character (ISO/IEC 16388). */
export function mod43(value: string): string {
  let sum = 0;
  for (const char of value) sum += CODE39_CHARACTERS.indexOf(char);
  return CODE39_CHARACTERS.charAt(sum % 43);
}

const CODABAR_CHARACTERS = '0123456789-$:/.+ABCD';

/** Codabar's, over the data and both start and stop characters (AIM BC3). */
export function mod16(value: string): string {
  let sum = 0;
  for (const char of value) sum += CODABAR_CHARACTERS.indexOf(char);
  return CODABAR_CHARACTERS.charAt((16 - (sum % 16)) % 16);
}

/** MSI's, the one of ISO/IEC 7812 ("Luhn"). */
export function luhn(digits: string): string {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = (digits.charCodeAt(digits.length - 1 - at) - 48) * (at % 2 === 0 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return String((10 - (sum % 10)) % 10);
}

/** MSI's with IBM's weights 2 to 7. @throws SymbolError for the one value in eleven that has none */
export function mod11(digits: string): string {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    sum += (digits.charCodeAt(digits.length - 1 - at) - 48) * (2 + (at % 6));
  }
  const check = (11 - (sum % 11)) % 11;
  if (check === 10) throw new SymbolError('the value has no modulo 11 check digit');
  return String(check);
}

const CODE11_CHARACTERS = '0123456789-';

/** Code 11's: one check character, and from ten characters on a second one over the first. */
export function code11Checks(value: string): string {
  const check = (text: string, heaviest: number) => {
    let sum = 0;
    for (let at = 0; at < text.length; at++) {
      sum += (1 + (at % heaviest)) * CODE11_CHARACTERS.indexOf(text.charAt(text.length - 1 - at));
    }
    return CODE11_CHARACTERS.charAt(sum % 11);
  };
  const first = check(value, 10);
  return value.length < 10 ? first : first + check(value + first, 9);
}

/** Deutsche Post's, with weights 4 and 9. */
export function deutschePost(digits: string): string {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) sum += (digits.charCodeAt(at) - 48) * (at % 2 === 0 ? 4 : 9);
  return String((10 - (sum % 10)) % 10);
}
