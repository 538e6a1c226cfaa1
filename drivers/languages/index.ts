/** The languages a label can be sent in: one line each. */
import type { LanguageId } from '../../src/contract/format.ts';
import { epl } from './epl/encode.ts';
import type { Language } from './language.ts';
import { pdf } from './pdf/encode.ts';
import { png } from './png/encode.ts';
import { pwgRaster } from './pwg-raster/encode.ts';
import { tspl } from './tspl/encode.ts';
import { zpl } from './zpl/encode.ts';

export const LANGUAGES: Readonly<Record<LanguageId, Language>> = {
  zpl,
  tspl,
  epl,
  pdf,
  'pwg-raster': pwgRaster,
  png,
};
