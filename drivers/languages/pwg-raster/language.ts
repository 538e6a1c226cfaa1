/** PWG Raster (PWG 5102.4-2012), which every driverless printer takes. */
import { rasterType } from '../../../src/contract/format.ts';
import type { Language } from '../language.ts';

export const pwgRaster: Language = {
  id: 'pwg-raster',
  ending: '.pwg',
  mediaTypes: ['image/pwg-raster'],
  commandSets: ['PWGRASTER'],
  prints: 'pages',
  madeOf: 'dots',
  rasterTypes: rasterType.options,
  encoder: async () => (await import('./encode.ts')).openPwgRaster,
};
