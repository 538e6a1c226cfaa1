/** Where an agent looks for printers, besides those that its configuration names. */
import { z } from 'zod';
import { fingerprint } from './fingerprints.ts';
import { providerSettings } from './providers/index.ts';

export const discoveryConfig = z.strictObject({
  ...providerSettings,
  /** The operator's table of models that do not say what they are. Its lines come before those of Platen's own table. */
  fingerprints: z.array(fingerprint).max(1_000).default([]),
});
