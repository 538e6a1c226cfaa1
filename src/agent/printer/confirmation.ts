export type { Confirmation } from '../printer-entry.ts';

import { JobFaultError } from '../../contract/fault.ts';

/** Everything is delivered, and nobody knows what came out. */
export function unconfirmed(): JobFaultError {
  return new JobFaultError(
    'outcome-unknown',
    'Everything was sent, but this printer cannot say what it printed: look at its labels. ' +
      'With "confirmation": "transport" in the agent\'s configuration, what was delivered counts as printed.',
  );
}
