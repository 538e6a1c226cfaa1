/** ZPL II, the language of Zebra's printers, which many others emulate. */
import type { Language } from '../language.ts';
import { PLACING } from '../placing.ts';
import { zplDevice } from './device.ts';

export const zpl: Language = {
  id: 'zpl',
  ending: '.zpl',
  mediaTypes: ['application/vnd.zebra-zpl', 'application/x-zpl'],
  commandSets: ['ZPL', 'ZPLII', 'ZPL II', 'ZPL-II'],
  prints: 'labels',
  madeOf: 'vectors',
  settings: {
    darkness: { from: 0, to: 30, step: 0.1 },
    speed: { from: 1, to: 14, step: 1 },
    ...PLACING,
    printMode: ['tear-off', 'peel-off', 'rewind', 'applicator', 'cutter'],
    thermalMode: ['transfer', 'direct'],
  },
  device: zplDevice,
  encoder: async () => (await import('./encode.ts')).openZpl,
};
