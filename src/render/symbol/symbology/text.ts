/** Text as the bytes that a symbol carries. */
import { because } from '../../../contract/reason.ts';
import { SymbolError } from '../bwip.ts';

/** The extended channel interpretation for UTF-8. */
export const ECI_UTF8 = 26;

export function utf8(value: string): Buffer {
  if (!value.isWellFormed()) throw new SymbolError(because('surrogate', {}));
  return Buffer.from(value, 'utf8');
}

/** Text and options for bwip-js. Plain ASCII stays as it is, and other text becomes UTF-8, marked with ECI 26. */
export function eciText(value: string): { text: string; options: Record<string, boolean> } {
  if (/^[\0-\x7f]*$/.test(value)) return { text: value, options: { binarytext: true } };
  const escaped = utf8(value).toString('latin1').replaceAll('^', '^^');
  return {
    text: `^ECI${String(ECI_UTF8).padStart(6, '0')}${escaped}`,
    options: { binarytext: true, parsefnc: true },
  };
}
