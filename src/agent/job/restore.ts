/** Where a job that is delivered again stands, by what the agent's journal and the queue know. */
import { faultFor } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { Journal } from '../journal.ts';
import type { Ledger } from './ledger.ts';
import type { Note, NotedLedger } from './note.ts';

/**
 * Brings the ledger to where the job was left.
 * @param note left with it in the queue
 * @throws JobFaultError `outcome-unknown`
 */
export function restore(
  ledger: Ledger,
  note: Note | null,
  { agentId, journal }: { agentId: string; journal: Journal },
): void {
  const own = note === null || note.agentId === agentId;
  const takenOver = () =>
    faultFor('outcome-unknown', because('taken-over', { agent: note?.agentId ?? agentId }));
  // Another agent has had the job since this one, and has read the counter at rest: labels from `at` on were missing then. So was
  // all that this one had sent behind them. Whatever is counted later is none of that.
  const missed = (at: number) => {
    const { entry, final } = ledger.found ?? {};
    if (entry === undefined || final !== null || at >= entry.intent) return;
    // The queue has lost newer notes: the agent that wrote this one did not have the job after this one.
    if (at < entry.printed || ledger.delivery < entry.delivery + 2) {
      ledger.restore(entry);
      throw takenOver();
    }
    journal.settleBehind(entry, { ...ledger.lasting, odometer: null }, ledger.perPage);
  };
  if (own && ledger.found !== null) {
    ledger.restore(ledger.found.entry, 0, note?.underWay?.ahead);
    // The job may have been at another kind of device, whose counter began elsewhere.
    if (!ledger.uncertain) ledger.restore({ odometer: null, ...upTo(Math.max(ledger.base, ledger.printed)) });
  } else if (note?.resumeAt === null) {
    const underWay: Partial<NotedLedger> = note.underWay ?? {};
    const { behind, ahead, apart = false, intent = ledger.total, ...left } = underWay;
    ledger.restore({ ...left, intent: Math.min(intent, ledger.total) }, behind);
    if (!own && left.base !== undefined) missed(left.base);
    const counts = !own && ledger.odometer !== null;
    if (counts && ahead !== undefined && ledger.settleWith(ahead, apart)) return;
    if (counts && !journal.hasSentSince(ledger.lasting)) return;
    // Only the agent that had the job could tell which labels are out.
    throw own ? faultFor('outcome-unknown', because('journal-lost', {})) : takenOver();
  } else if (note !== null) {
    ledger.restore({ printed: note.resumeAt, ...upTo(note.resumeAt) });
    if (!own) missed(note.resumeAt);
  }
}

/** Nothing from this label on is under way. */
function upTo(label: number) {
  return { base: label, intent: label, sent: label, document: undefined };
}
