/** A place where printers can be found. One file per provider; they run side by side and share nothing. */
import { z } from 'zod';
import { printerReason, printerState } from '../../contract/printer.ts';
import { printerEntry } from '../config.ts';
import { evidence } from './evidence.ts';

/** A way to what may be a printer: its URI, what the operator has set for it, and what it is known by. */
export const candidate = printerEntry.extend({ evidence: evidence.exactOptional() });
export type Candidate = z.infer<typeof candidate>;

/**
 * What a provider found, whether or not Platen can drive it. Who is there is worth knowing also where nobody
 * knows in which language to talk to it: the same printer may be there another way.
 */
export const finding = z.object({
  uri: printerEntry.shape.uri,
  /** What it is called there: an instance name, a queue's name. */
  name: printerEntry.shape.name,
  evidence,
  /** What the operator wrote down for it. */
  entry: printerEntry.exactOptional(),
  /** How it is, where the provider can tell: for printers that cannot say it themselves. */
  status: z.object({ state: printerState, reasons: z.array(printerReason) }).exactOptional(),
});
export type Finding = z.infer<typeof finding>;

export interface DiscoveryProvider {
  readonly id: string;
  /** Its list is all there is: a printer that it does not list any more is gone at once, not offline. */
  readonly exhaustive: boolean;
  /** Asking it again costs next to nothing, and nobody tells when something has changed: it is asked each second. */
  readonly near?: boolean;
  find(signal: AbortSignal): Promise<Finding[]>;
  /** Called when something was heard between scans that makes a scan now worth while. */
  onNews?: (() => void) | undefined;
  /** Lets go of what scans keep open; the next scan opens it again. */
  stop?(): Promise<void>;
}
