/** Ledgers of jobs whose labels were sent, and what a printer says of them. */
import type { DeviceStatus } from '../../../drivers/device.ts';
import { Ledger } from '../../../src/agent/job/ledger.ts';
import { LOOKED_AT_MS, Row } from '../../../src/agent/job/row.ts';
import { useJournal } from './use-journal.ts';

/** ms after which a printer has looked at what was sent. */
export const SETTLE = LOOKED_AT_MS;

export interface Sending {
  row: Row;
  ledger: Ledger;
}

/** For a test file: jobs, each of another printer than any before it, since what a printer counts of one job spoils the count of an unfinished one. */
export function useSending() {
  const journal = useJournal();
  let jobs = 0;
  const sending = (total: number, odometer: number | null = null, perPage = 1): Sending => {
    const row = new Row();
    const queueId = `00000000-0000-0000-0000-${String(++jobs).padStart(12, '0')}`;
    const printerId = `serial-${String(jobs).padStart(12, '0')}`;
    const ledger = new Ledger({ journal, row, queueId, printerId, delivery: 1, total, from: 0, perPage });
    ledger.begin(odometer);
    ledger.intend(total);
    return { row, ledger };
  };
  return { journal, sending };
}

export function send({ ledger }: Sending, counts: number[], now: number): void {
  for (const count of counts) ledger.took({ bytes: new Uint8Array(100), first: ledger.sent, count }, now);
}

export const pending = (remaining: number, formatsPending?: number): DeviceStatus => ({
  state: remaining + (formatsPending ?? 0) > 0 ? 'processing' : 'idle',
  reasons: [],
  labelsPending: remaining + (formatsPending ?? 0),
  ...(formatsPending === undefined ? {} : { formatsPending }),
  odometer: null,
});
