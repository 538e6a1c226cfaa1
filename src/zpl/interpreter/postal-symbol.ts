/**
 * `^B5` and `^BZ`: postal codes, which hold their data in the height of their bars.
 *
 * Source: ZPL II Programming Guide, ^B5 and ^BZ; USPS DMM 708.4 (bars of 0.125 and 0.050 in) and USPS-B-3200 (a bar has three
 * parts of nearly one height).
 */
import { GraphicError } from '../graphic-data.ts';
import { whole } from '../parameters.ts';
import type { BarSizes } from './linear-symbol.ts';
import { isYes, requireData } from './symbol-data.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';
import { type Dark, readLine, type UprightSymbol } from './upright-symbol.ts';

/** The height of short bars in POSTNET and PLANET, as a share of the tall ones'. */
const SHORT = 0.4;

/** The codes of `^BZ` by its last parameter; 2 is reserved. */
const POSTAL_CODES: Readonly<Record<string, string>> = { 0: 'postnet', 1: 'planet', 3: 'onecode' };

export function isPostal(name: string): boolean {
  return name === 'B5' || name === 'BZ';
}

/** @throws GraphicError */
export function postalSymbol(
  { name, data }: SymbolField,
  [, high, line, above, type]: readonly string[],
  { module, ratio, height }: BarSizes,
  encoder: SymbolEncoder,
): UprightSymbol {
  const code = name === 'B5' ? 'planet' : POSTAL_CODES[type || '0'];
  if (code === undefined)
    throw new GraphicError(`^BZ is not drawn as postal code ${(type ?? '').slice(0, 4)}`);
  requireData(name, data, /^\d+$/);
  const tall = whole(high, height, 1, 32_000);
  // The ratio sets the pitch. Only then the guide's example, ^BY3 at 8 dots/mm, has the post's 22 bars per inch.
  const pitch = Math.round(module * ratio);
  const fourStates = code === 'onecode';
  const third = Math.round(tall / 3);
  const dark = encoder.postal(code, data).map((bar, at): Dark => {
    const reachesUp = bar === 'F' || bar === 'A';
    const reachesDown = bar === 'F' || bar === 'D';
    const top = reachesUp ? 0 : fourStates ? third : tall - Math.round(SHORT * tall);
    const bottom = reachesDown || !fourStates ? tall : tall - third;
    return [at * pitch, top, module, bottom - top];
  });
  if (!isYes(line, 'N')) return { dark, tall };
  return { dark, tall, line: readLine(data, { dark, module, isAbove: isYes(above, 'N') }) };
}
