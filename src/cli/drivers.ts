/** The drivers that agents started by these commands work with: all of them. */
import { zplDevice } from '../../drivers/languages/zpl/device.ts';
import { openTransport } from '../../drivers/transports/index.ts';
import type { Drivers } from '../agent/drivers.ts';

export const DRIVERS: Drivers = {
  open: openTransport,
  dialectFor: (language) => (language === 'zpl' ? zplDevice : null),
  languagesModule: new URL('../../drivers/languages/index.ts', import.meta.url),
};
