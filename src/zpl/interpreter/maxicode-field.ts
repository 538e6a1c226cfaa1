/**
 * Turns `^BD` (MaxiCode) into a graphic: the rasteriser itself draws only modes 2 and 3 of some carriers.
 *
 * Source: ZPL II Programming Guide, ^BD: in modes 2 and 3 the data begins with class of service (3 digits),
 * country (3 digits) and postal code (9 digits, or 6 characters).
 */
import { fieldBytes } from '../field-data.ts';
import { GraphicError, graphicCommand, hexDigits } from '../graphic-data.ts';

/**
 * Draws a MaxiCode; supplied by the renderer, which has the symbologies.
 * @throws GraphicError the text cannot be encoded
 */
export type DrawMaxiCode = (
  text: string,
  mode: number,
  dpi: number,
) => { readonly data: Uint8Array; readonly stride: number; readonly height: number };

/** More than any MaxiCode holds, bytes: longer data is not even tried. */
const LONGEST = 500;
const HEADER = /^\[\)>\x1e01\x1d\d\d/;
const GS = '\x1d';

/**
 * @param params of `^BD`
 * @param data of `^FD`, with the indicator of its `^FH`
 * @throws GraphicError
 */
export function maxiCodeField(
  params: string,
  data: Buffer,
  hex: string | undefined,
  { dpi, utf8, draw }: { dpi: number; utf8: boolean; draw: DrawMaxiCode },
): { field: string; height: number } {
  const mode = Number.parseInt(params, 10) || 2;
  if (data.length > LONGEST) throw new GraphicError('a MaxiCode of too much data');
  const text = Buffer.from(fieldBytes(data, hex), 'latin1').toString(utf8 ? 'utf8' : 'latin1');
  const coded = mode === 2 || mode === 3 ? carrierData(text, mode) : text;
  const { data: bytes, stride, height } = draw(coded, mode, dpi);
  return { field: graphicCommand(bytes.length, stride, hexDigits(bytes)), height };
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
