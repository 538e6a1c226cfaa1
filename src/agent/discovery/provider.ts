/** A place where printers can be found. One file per provider; they run side by side and share nothing. */
import type { PrinterEntry } from '../config.ts';

/** A way to what may be a printer: its URI, and what the operator has set for it. */
export type Candidate = PrinterEntry;

export interface DiscoveryProvider {
  readonly id: string;
  /** Its list is all there is: a printer that it does not list any more is gone at once, not offline. */
  readonly exhaustive: boolean;
  scan(signal: AbortSignal): Promise<Candidate[]>;
}
