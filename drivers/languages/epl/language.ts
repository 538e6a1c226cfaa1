/** EPL2, the language of Eltron's printers and their successors by Zebra (LP 2844 and others). */
import type { Language } from '../language.ts';
import { PLACING } from '../placing.ts';
import { eplDevice, SPEED } from './device.ts';

export const epl: Language = {
  id: 'epl',
  ending: '.epl',
  mediaTypes: ['application/vnd.eltron-epl', 'application/vnd.zebra-epl'],
  commandSets: ['EPL', 'EPL2'],
  prints: 'labels',
  madeOf: 'dots',
  // Print mode and ribbon are missing, because O sets all hardware options at once. So they are set only in the configuration.
  settings: {
    // Command D.
    darkness: { from: 0, to: 15, step: 1 },
    speed: { ...SPEED, step: 1 },
    ...PLACING,
  },
  device: eplDevice,
  encoder: async () => (await import('./encode.ts')).openEpl,
};
