/** The drivers that an agent works with; a test may give it others. */
import type { DeviceDialect } from '../../drivers/device.ts';
import { eplDevice } from '../../drivers/languages/epl/device.ts';
import { tsplDevice } from '../../drivers/languages/tspl/device.ts';
import { zplDevice } from '../../drivers/languages/zpl/device.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import type { Transports } from '../../drivers/transports/transports.ts';
import type { LanguageId } from '../contract/format.ts';

export interface Drivers {
  transports: Transports;
  /** null: printers of this language cannot be asked. */
  dialectFor(language: LanguageId): DeviceDialect | null;
  /**
   * The module whose `LANGUAGES` the render threads use; see `drivers/languages/index.ts`. Threads share no
   * objects, so it goes by its address.
   */
  languagesModule: URL;
}

const DIALECTS: readonly DeviceDialect[] = [zplDevice, tsplDevice, eplDevice];

export const standardDrivers: Drivers = {
  transports: standardTransports,
  dialectFor: (language) => DIALECTS.find((dialect) => dialect.language === language) ?? null,
  languagesModule: new URL('../../drivers/languages/index.ts', import.meta.url),
};
