/** Where an agent looks for printers, besides those that its configuration names. */
import { z } from 'zod';
import { fingerprint } from './fingerprints.ts';
import { providerSettings } from './providers/index.ts';

export const discoveryConfig = z.strictObject({
  ...providerSettings,
  /** What models are, where they do not say it themselves; looked at before what Platen knows. */
  fingerprints: z.array(fingerprint).max(1_000).default([]),
});
