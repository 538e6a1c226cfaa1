export type { Confirmation } from '../printer-config.ts';

import { JobFaultError } from '../../contract/fault.ts';
import { because, reasonText } from '../../contract/reason.ts';

const REASON = because('not-confirmed', {});

/** The fault of a job when all labels are delivered, but nobody knows which of them came out. */
export function unconfirmed(): JobFaultError {
  return new JobFaultError(
    'outcome-unknown',
    `${reasonText(REASON)} ` +
      'With "confirmation": "transport" in the agent\'s configuration, what was delivered counts as printed.',
    { reason: REASON },
  );
}
