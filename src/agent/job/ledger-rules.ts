/** The rules of a job's counts, which `ledger.ts` keeps. */
import type { JournalEntry } from '../journal.ts';

/** A rule of the ledger would be broken: the fault is in this program. */
export class LedgerError extends Error {}

/** @throws LedgerError */
export function ruled(entry: JournalEntry): JournalEntry {
  const { base, sent, intent, total, printed, queueId } = entry;
  const rows = [
    [0, base, sent, intent, total],
    [0, printed, intent],
  ];
  const holds = rows.every((row) => row.every((count, at) => at === 0 || count >= (row[at - 1] ?? 0)));
  if (!holds) {
    const counts = JSON.stringify({ base, sent, intent, printed, total });
    throw new LedgerError(`job ${queueId}: its counts cannot be ${counts}`);
  }
  return entry;
}
