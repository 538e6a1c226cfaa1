/** What was found and can be driven. */
import { standardTransports } from '../../drivers/transports/index.ts';
import { candidateOf, type Fingerprint } from '../../src/agent/discovery/fingerprints.ts';
import type { Candidate, Finding } from '../../src/agent/discovery/provider.ts';

export function drivable(findings: readonly Finding[], operators: readonly Fingerprint[] = []): Candidate[] {
  return findings.flatMap((finding) => candidateOf(finding, standardTransports, operators) ?? []);
}
