/** A place where printers can be found. One file per provider; they run side by side and share nothing. */
import { z } from 'zod';
import type { Transports } from '../../../drivers/transports/transports.ts';
import { printerReason, printerState } from '../../contract/printer.ts';
import { printerEntry } from '../printer-entry.ts';
import { evidence } from './evidence.ts';

/** How the printer at an address is driven: in which language, and as the operator has set it. */
export const driverChoice = printerEntry.extend({ evidence: evidence.exactOptional() });
export type DriverChoice = z.infer<typeof driverChoice>;

/**
 * What a provider found, whether or not Platen can drive it. Who is there is worth knowing also where nobody
 * knows in which language to talk to it: the same printer may be at another address too.
 */
export const sighting = z.object({
  uri: printerEntry.shape.uri,
  /** What it is called there: an instance name, a queue's name. */
  name: printerEntry.shape.name,
  evidence,
  /** What the operator wrote down for it. */
  entry: printerEntry.exactOptional(),
  /** How it is, where the provider can tell: for printers that cannot say it themselves. */
  status: z.object({ state: printerState, reasons: z.array(printerReason) }).exactOptional(),
});
export type Sighting = z.infer<typeof sighting>;

export interface DiscoveryProvider {
  readonly id: string;
  /** Its list is all there is: a printer that it does not list any more is gone at once, not offline. */
  readonly exhaustive: boolean;
  /** A scan costs next to nothing, and nobody tells when something has changed: it is asked each second. */
  readonly near?: boolean;
  /** Its list changes only with `onNews`: `near` counts for the printers in it alone. */
  readonly fixed?: boolean;
  find(signal: AbortSignal): Promise<Sighting[]>;
  /** Called when something was heard between scans that makes a scan now worth while. */
  onNews?: (() => void) | undefined;
  /** Lets go of what scans keep open; the next scan opens it again. */
  stop?(): Promise<void>;
}

/** A kind of provider: what the operator sets in `discovery`, and the providers that are asked for by that. */
export interface ProviderKind<Settings extends z.ZodRawShape> {
  readonly settings: Settings;
  asked(config: z.output<z.ZodObject<Settings>>, transports: Transports): DiscoveryProvider[];
}

/** Returns `kind` with the types of its settings inferred. */
export function providerKind<Settings extends z.ZodRawShape>(
  kind: ProviderKind<Settings>,
): ProviderKind<Settings> {
  return kind;
}
