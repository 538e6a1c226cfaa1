/** TSPL and TSPL2, the language of TSC's printers and of many that are built alike. */
import type { Language } from '../language.ts';
import { tsplDevice } from './device.ts';

export const tspl: Language = {
  id: 'tspl',
  ending: '.tspl',
  mediaTypes: ['application/vnd.tsc-tspl'],
  commandSets: ['TSPL', 'TSPL2'],
  prints: 'labels',
  madeOf: 'dots',
  // DENSITY.
  darkness: { from: 0, to: 15 },
  device: tsplDevice,
  encoder: async () => (await import('./encode.ts')).openTspl,
};
