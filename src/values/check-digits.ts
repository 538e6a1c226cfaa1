/** Check characters that a template can add to a value. Each is of the whole value; null: it cannot hold the value. */

const DIGITS = /^\d+$/;
const CODE_39 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-. $/+%';
const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*';

export const CHECK_DIGITS: Readonly<Record<string, (value: string) => string | null>> = {
  /** GTIN, SSCC, EAN, UPC: weights 3, 1 from the right (GS1 General Specifications). */
  gs1: (value) => {
    if (!DIGITS.test(value)) return null;
    let sum = 0;
    for (let at = 0; at < value.length; at++)
      sum += Number(value[at]) * ((value.length - at) % 2 === 1 ? 3 : 1);
    return String((10 - (sum % 10)) % 10);
  },
  /** Cards, IMEI: every second digit doubled (ISO/IEC 7812-1). */
  luhn: (value) => {
    if (!DIGITS.test(value)) return null;
    let sum = 0;
    for (let at = 0; at < value.length; at++) {
      const doubled = Number(value[at]) * ((value.length - at) % 2 === 1 ? 2 : 1);
      sum += doubled > 9 ? doubled - 9 : doubled;
    }
    return String((10 - (sum % 10)) % 10);
  },
  /** Code 39's own (ISO/IEC 16388). */
  mod43: (value) => {
    let sum = 0;
    for (const char of value) {
      const at = CODE_39.indexOf(char);
      if (at < 0) return null;
      sum += at;
    }
    return CODE_39.charAt(sum % 43);
  },
  /** ISO/IEC 7064 MOD 37-2: donation numbers of ISBT 128. */
  'mod37-2': (value) => {
    let sum = 0;
    for (const char of value) {
      const at = ALPHANUMERIC.indexOf(char);
      if (at < 0 || at === 36) return null;
      sum = ((sum + at) * 2) % 37;
    }
    return ALPHANUMERIC.charAt((38 - sum) % 37);
  },
};
