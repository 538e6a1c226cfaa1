/** PNG (ISO/IEC 15948), for driverless printers that take neither a printer's language nor PDF nor PWG raster. */
import type { Language } from '../language.ts';

export const png: Language = {
  id: 'png',
  ending: '.png',
  mediaTypes: ['image/png'],
  commandSets: ['PNG'],
  prints: 'pages',
  madeOf: 'dots',
  // A picture is one page.
  pagesPerDocument: 1,
  encoder: async () => (await import('./encode.ts')).openPng,
};
