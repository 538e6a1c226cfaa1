/** The ID that one document transport gives a printer's job, read by another one after the printer's way has changed. */
import { expect, test } from 'vitest';
import { standardTransports } from '../../drivers/transports/index.ts';

// Nobody answers at these addresses: it is known without asking.
test.each([
  ['ipp://127.0.0.1:1/ipp/print', '042 a job of LPD'],
  ['ipp://127.0.0.1:1/ipp/print', '7 a job of the Windows spooler'],
  ['ipp://127.0.0.1:1/ipp/print', '99999999999'],
  ['cups://127.0.0.1:1/labels', '042 a job of LPD'],
  ['lpd://127.0.0.1:1/labels', '57'],
  ['lpd://127.0.0.1:1/labels', '7 a job of the Windows spooler'],
  ['winspool:labels', '57'],
])('%s knows no job %s, and has nothing to cancel', async (uri, job) => {
  const signal = AbortSignal.timeout(5_000);
  const port = standardTransports.documents(uri);
  expect(await port?.jobState(job, signal)).toBeNull();
  await port?.cancel(job, signal);
  port?.close();
});
