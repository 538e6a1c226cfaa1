/** ZPL II, the language of Zebra's printers, which many others emulate. */
import type { Language } from '../language.ts';
import { zplDevice } from './device.ts';

export const zpl: Language = {
  id: 'zpl',
  ending: '.zpl',
  mediaTypes: ['application/vnd.zebra-zpl', 'application/x-zpl'],
  commandSets: ['ZPL', 'ZPLII', 'ZPL II', 'ZPL-II'],
  prints: 'labels',
  madeOf: 'vectors',
  device: zplDevice,
  encoder: async () => (await import('./encode.ts')).openZpl,
};
