/**
 * What counts as printed where the printer itself cannot say it: printers that never answer, and printers behind
 * a queue that only passes bytes on.
 *
 * `device` (the default): nothing does. The job is held for a person once everything is delivered.
 * `transport`: what the connection took, or the queue calls completed. A label that is lost after that is lost
 * unseen: the operator's decision, for a printer, for a model (`discovery.fingerprints`), or for all.
 */
import { z } from 'zod';
import { JobFaultError } from '../../contract/fault.ts';

export const confirmation = z.enum(['device', 'transport']);
export type Confirmation = z.infer<typeof confirmation>;

/** Everything is delivered, and nobody knows what came out. */
export function unconfirmed(): JobFaultError {
  return new JobFaultError(
    'outcome-unknown',
    'Everything was sent, but this printer cannot say what it printed: look at its labels. ' +
      'With "confirmation": "transport" in the agent\'s configuration, what was delivered counts as printed.',
  );
}
