/** The printers that the configuration names, and those that people have added at the service. */
import type { PrinterConfig } from '../../printer-config.ts';
import type { DiscoveryProvider, Sighting } from '../provider.ts';

export const CONFIGURED = 'configured';

export interface ConfiguredPrinters extends DiscoveryProvider {
  /** @param added all printers that people have added now; if the configuration names an address too, its own entry counts */
  drive(added: readonly PrinterConfig[]): void;
}

export function configuredPrinters(
  entries: readonly PrinterConfig[],
  added: readonly PrinterConfig[] = [],
): ConfiguredPrinters {
  const named = new Set(entries.map(({ uri }) => uri));
  const seen = (more: readonly PrinterConfig[]): Sighting[] =>
    [...entries, ...more.filter(({ uri }) => !named.has(uri))].map((entry) => ({
      uri: entry.uri,
      evidence: {},
      entry,
    }));
  let sightings = seen(added);
  const provider: ConfiguredPrinters = {
    id: CONFIGURED,
    exhaustive: true,
    near: true,
    fixed: true,
    find: async () => sightings,
    drive: (more) => {
      sightings = seen(more);
      provider.onNews?.();
    },
  };
  return provider;
}
