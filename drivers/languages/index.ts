/** The languages a label can be sent in: one line each. */
import type { LanguageId } from '../../src/contract/format.ts';
import { epl } from './epl/language.ts';
import type { Language } from './language.ts';
import { pdf } from './pdf.ts';
import { png } from './png.ts';
import { pwgRaster } from './pwg-raster.ts';
import { tspl } from './tspl/language.ts';
import { zpl } from './zpl/language.ts';

export const LANGUAGES: Readonly<Record<LanguageId, Language>> = {
  zpl,
  tspl,
  epl,
  pdf,
  'pwg-raster': pwgRaster,
  png,
};
