/** What was found and can be driven. */
import { standardTransports } from '../../drivers/transports/index.ts';
import { chooseDriver, type Fingerprint } from '../../src/agent/discovery/fingerprints.ts';
import type { ChosenDriver, Sighting } from '../../src/agent/discovery/provider.ts';

export function drivable(
  sightings: readonly Sighting[],
  operators: readonly Fingerprint[] = [],
): ChosenDriver[] {
  return sightings.flatMap((sighting) => chooseDriver(sighting, standardTransports, operators) ?? []);
}
