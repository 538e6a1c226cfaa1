/** What a job in hand works with: its printer, and where its outcome goes. */
import type { LanguageId } from '../../contract/format.ts';
import type { RenderPool } from '../../rendering/render-pool.ts';
import type { Timings } from '../config.ts';
import type { Confirmation } from '../printer/confirmation.ts';
import type { PrinterDevice } from '../printer/printer-device.ts';
import type { OutcomeContext } from './outcome.ts';
import type { WindowSize } from './row.ts';
import type { Stop } from './stop.ts';

export interface RunContext extends OutcomeContext {
  pool: Pick<RenderPool, 'open'>;
  timings: Timings;
  window: WindowSize;
  device: PrinterDevice;
  /** Whether the printer takes bytes of this language by the way that it is driven. */
  speaks(language: LanguageId): boolean;
  confirmation(): Confirmation;
  stop: Stop;
  /** No other agent wants the printer. */
  alone(): boolean;
}
