/** A place where printers can be found. One file per provider; they run side by side and share nothing. */
import { z } from 'zod';
import { printerEntry } from '../config.ts';
import { evidence } from './evidence.ts';

/** A way to what may be a printer: its URI, what the operator has set for it, and what it is known by. */
export const candidate = printerEntry.extend({ evidence: evidence.exactOptional() });
export type Candidate = z.infer<typeof candidate>;

/** What a provider found, whether or not Platen can drive it. */
export const finding = z.object({
  uri: printerEntry.shape.uri,
  /** What it is called there: an instance name, a queue's name. */
  name: printerEntry.shape.name,
  evidence,
});
export type Finding = z.infer<typeof finding>;

export interface DiscoveryProvider {
  readonly id: string;
  /** Its list is all there is: a printer that it does not list any more is gone at once, not offline. */
  readonly exhaustive: boolean;
  scan(signal: AbortSignal): Promise<Candidate[]>;
  /** All that was found, also what cannot be driven: for a person to look at. */
  find?(signal: AbortSignal): Promise<Finding[]>;
  /** Called when something was heard between scans that makes a scan now worth while. */
  onNews?: (() => void) | undefined;
  /** Lets go of what scans keep open; the next scan opens it again. */
  stop?(): Promise<void>;
}
