export type { Confirmation } from '../printer-entry.ts';

import { JobFaultError } from '../../contract/fault.ts';
import { because, reasonText } from '../../contract/reason.ts';

const REASON = because('not-confirmed', {});

/** Everything is delivered, and nobody knows what came out. */
export function unconfirmed(): JobFaultError {
  return new JobFaultError(
    'outcome-unknown',
    `${reasonText(REASON)} ` +
      'With "confirmation": "transport" in the agent\'s configuration, what was delivered counts as printed.',
    { reason: REASON },
  );
}
