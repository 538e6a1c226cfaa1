/** TSPL and TSPL2, the language of TSC's printers and of many similar ones. */
import type { Language } from '../language.ts';
import { PLACING } from '../placing.ts';
import { tsplDevice } from './device.ts';

export const tspl: Language = {
  id: 'tspl',
  ending: '.tspl',
  mediaTypes: ['application/vnd.tsc-tspl'],
  commandSets: ['TSPL', 'TSPL2'],
  prints: 'labels',
  madeOf: 'dots',
  settings: {
    // Command DENSITY.
    darkness: { from: 0, to: 15, step: 1 },
    speed: { from: 1, to: 14, step: 1 },
    ...PLACING,
    printMode: ['tear-off', 'peel-off', 'rewind', 'cutter'],
    thermalMode: ['transfer', 'direct'],
  },
  device: tsplDevice,
  encoder: async () => (await import('./encode.ts')).openTspl,
};
