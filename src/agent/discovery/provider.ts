/** A provider finds printers in one place. Each has a file or folder of its own; they run side by side and share nothing. */
import { z } from 'zod';
import type { Transports } from '../../../drivers/transports/transports.ts';
import { printerReason, printerState } from '../../contract/printer.ts';
import { printerConfig } from '../printer-config.ts';
import { evidence } from './evidence.ts';

/** How the printer at an address is driven: in which language, and with which settings of the operator. */
export const chosenDriver = printerConfig.extend({ evidence: evidence.exactOptional() });
export type ChosenDriver = z.infer<typeof chosenDriver>;

/**
 * What a provider found, whether or not Platen can drive it. Even if nobody knows the device's language, it is worth knowing
 * who it is: the same printer may be at another address too.
 */
export const sighting = z.object({
  uri: printerConfig.shape.uri,
  /** What the provider calls it: an instance name, a queue's name. */
  name: printerConfig.shape.name,
  evidence,
  /** What the operator wrote down for it. */
  entry: printerConfig.exactOptional(),
  /** Its state, if the provider can tell. It counts for printers that cannot say it themselves. */
  status: z.object({ state: printerState, reasons: z.array(printerReason) }).exactOptional(),
});
export type Sighting = z.infer<typeof sighting>;

export interface DiscoveryProvider {
  readonly id: string;
  /** Its list is all there is. So a printer that is no longer in the list is gone at once, not offline. */
  readonly exhaustive: boolean;
  /** A scan costs next to nothing, and nobody says when something has changed. So it is scanned each second. */
  readonly near?: boolean;
  /** Its list changes only with `onNews`. So `near` makes the agent ask the listed printers often, but not scan often. */
  readonly fixed?: boolean;
  find(signal: AbortSignal): Promise<Sighting[]>;
  /** The provider calls this when it has heard something between scans, so that a scan is worth while now. */
  onNews?: (() => void) | undefined;
  /** Closes what scans keep open. The next scan opens it again. */
  stop?(): Promise<void>;
}

/** A kind of provider: which settings it has in `discovery`, and which providers these settings ask for. */
interface ProviderKind<Settings extends z.ZodRawShape> {
  readonly settings: Settings;
  asked(config: z.output<z.ZodObject<Settings>>, transports: Transports): DiscoveryProvider[];
}

/** Returns `kind` with the types of its settings inferred. */
export function providerKind<Settings extends z.ZodRawShape>(
  kind: ProviderKind<Settings>,
): ProviderKind<Settings> {
  return kind;
}
