/** The drivers that an agent works with; a test may give it others. */
import type { DeviceDialect } from '../../drivers/device.ts';
import { eplDevice } from '../../drivers/languages/epl/device.ts';
import { tsplDevice } from '../../drivers/languages/tspl/device.ts';
import { zplDevice } from '../../drivers/languages/zpl/device.ts';
import type { DeviceAccess, DocumentPort } from '../../drivers/transports/document/document.ts';
import { documentPort, openTransport } from '../../drivers/transports/index.ts';
import type { Connection, TransportTimeouts } from '../../drivers/transports/transport.ts';
import type { LanguageId } from '../contract/format.ts';

export interface Drivers {
  /** Opens a connection to a device by its URI; see `drivers/transports/index.ts`. */
  open(uri: string, signal: AbortSignal, timeouts: TransportTimeouts): Promise<Connection>;
  /** The way to a device that takes documents; null: it takes bytes. */
  documents(uri: string, timeouts: TransportTimeouts, access: DeviceAccess): DocumentPort | null;
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
  open: openTransport,
  documents: documentPort,
  dialectFor: (language) => DIALECTS.find((dialect) => dialect.language === language) ?? null,
  languagesModule: new URL('../../drivers/languages/index.ts', import.meta.url),
};
