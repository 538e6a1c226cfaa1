/** The printers that the configuration names. */
import type { PrinterEntry } from '../../printer-entry.ts';
import type { DiscoveryProvider } from '../provider.ts';

export const CONFIGURED = 'configured';

export function configuredPrinters(entries: readonly PrinterEntry[]): DiscoveryProvider {
  const sightings = entries.map((entry) => ({ uri: entry.uri, evidence: {}, entry }));
  return { id: CONFIGURED, exhaustive: true, near: true, fixed: true, find: async () => sightings };
}
