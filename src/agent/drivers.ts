/** The drivers that an agent works with. A test may give it other ones. */
import { LANGUAGES } from '../../drivers/languages/index.ts';
import type { DeviceDialect } from '../../drivers/languages/language.ts';
import { standardTransports } from '../../drivers/transports/index.ts';
import type { Transports } from '../../drivers/transports/transports.ts';
import type { LanguageId } from '../contract/format.ts';

export interface Drivers {
  transports: Transports;
  /** null: printers of this language cannot be asked. */
  dialectFor(language: LanguageId): DeviceDialect | null;
  /**
   * The module whose `LANGUAGES` the render threads use; see `drivers/languages/index.ts`. It is given by its URL, because
   * threads share no objects.
   */
  languagesModule: URL;
}

export const standardDrivers: Drivers = {
  transports: standardTransports,
  dialectFor: (language) => LANGUAGES[language].device ?? null,
  languagesModule: new URL('../../drivers/languages/index.ts', import.meta.url),
};
