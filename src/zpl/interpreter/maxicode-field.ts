/**
 * Turns `^BD` (MaxiCode) into a graphic, because the rasteriser itself draws only modes 2 and 3 of some carriers.
 *
 * Source: ZPL II Programming Guide, ^BD: in modes 2 and 3 the data begins with class of service (3 digits),
 * country (3 digits) and postal code (9 digits, or 6 characters).
 */
import { GraphicError } from '../graphic-data.ts';
import type { SymbolEncoder, SymbolField } from './symbol-encoder.ts';

const HEADER = /^\[\)>\x1e01\x1d\d\d/;
const GS = '\x1d';

/** @throws GraphicError */
export function maxiCode(
  { params, data, utf8, dpi }: SymbolField,
  encoder: SymbolEncoder,
): ReturnType<SymbolEncoder['maxiCode']> {
  const mode = Number.parseInt(params, 10) || 2;
  const text = Buffer.from(data, 'latin1').toString(utf8 ? 'utf8' : 'latin1');
  return encoder.maxiCode(mode === 2 || mode === 3 ? carrierData(text, mode) : text, mode, dpi);
}

/** The data in the encoder's order: header, postal code, country and class of service, separated by GS. */
function carrierData(text: string, mode: 2 | 3): string {
  const code = mode === 2 ? 9 : 6;
  const [service, country, postal] = [text.slice(0, 3), text.slice(3, 6), text.slice(6, 6 + code)];
  if (!/^\d{6}$/.test(service + country) || postal.trim() === '') {
    throw new GraphicError(
      `a MaxiCode of mode ${mode} begins with class of service, country and postal code`,
    );
  }
  const rest = text.slice(6 + code);
  const header = HEADER.exec(rest)?.[0] ?? '';
  return header + [postal.trim(), country, service, rest.slice(header.length)].join(GS);
}
