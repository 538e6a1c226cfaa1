/** One job, kept up to date, and why nothing comes out of its printer. */
import { useRef } from 'preact/hooks';
import { jobDetails } from '../../src/contract/job-details.ts';
import { printerDetails } from '../../src/contract/printer-actions.ts';
import { stillOf } from '../controls/still-words.ts';
import { useLive } from '../service/live.ts';
import { waitsInLane } from './wait-words.ts';

/** `still`: why nothing comes out of the printer, while the job waits in its lane. */
export function useJob(id: string) {
  const inLane = useRef(false);
  const { live, reload } = useLive(
    jobDetails,
    `/jobs/${encodeURIComponent(id)}`,
    // How many jobs are before it changes when other jobs do.
    ({ jobs }) => jobs.includes(id) || (inLane.current && jobs.length > 0),
  );
  const job = live.data;
  const waiting = job !== undefined && waitsInLane(job) ? job : undefined;
  inLane.current = waiting !== undefined;
  const printer = useLive(
    printerDetails,
    waiting === undefined ? null : `/printers/${encodeURIComponent(waiting.printer.id)}`,
    ({ printers }) => printers.length > 0,
  ).live.data;
  return {
    live,
    reload,
    still: printer !== undefined && printer.id === waiting?.printer.id ? stillOf(printer) : undefined,
  };
}
