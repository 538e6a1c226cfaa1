/** Where a job that is delivered again stands, by what the agent's journal and the queue know. */
import { faultFor, type JobFaultError } from '../../contract/fault.ts';
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
  if (own && ledger.found !== null) {
    ledger.restore(ledger.found.entry, 0, note?.underWay?.ahead);
    // The job may have been at another kind of device, whose counter began elsewhere.
    if (!ledger.uncertain) ledger.restore({ odometer: null, ...upTo(Math.max(ledger.base, ledger.printed)) });
  } else if (note?.resumeAt === null) {
    const underWay: Partial<NotedLedger> = note.underWay ?? {};
    const { behind, ahead, apart = false, intent = ledger.total, ...left } = underWay;
    ledger.restore({ ...left, intent: Math.min(intent, ledger.total) }, behind);
    if (!own && left.base !== undefined) missed(ledger, journal, note.agentId, left.base);
    const counts = !own && ledger.odometer !== null;
    if (counts && ahead !== undefined && ledger.settleWith(ahead, apart)) return;
    if (counts && !journal.hasSentSince(ledger.lasting)) return;
    // Only the agent that had the job could tell which labels are out.
    throw own ? faultFor('outcome-unknown', because('journal-lost', {})) : takenOver(note.agentId);
  } else if (note !== null) {
    ledger.restore({ printed: note.resumeAt, ...upTo(note.resumeAt) });
    if (!own) missed(ledger, journal, note.agentId, note.resumeAt);
  }
}

/**
 * Another agent has had the job since this one, and has read the counter at rest: labels from `at` on were missing then. So was all
 * that this agent had sent behind them, and whatever is counted later is none of that.
 * @throws JobFaultError `outcome-unknown` where that cannot be: the queue has lost newer notes
 */
function missed(ledger: Ledger, journal: Journal, agent: string, at: number): void {
  const { entry, final } = ledger.found ?? {};
  if (entry === undefined || final !== null || at >= entry.intent) return;
  // The other agent's delivery is between this agent's last one and this one.
  if (at < entry.printed || ledger.delivery < entry.delivery + 2) {
    ledger.restore(entry);
    throw takenOver(agent);
  }
  journal.settleBehind(entry, { ...ledger.lasting, odometer: null }, ledger.perPage);
}

function takenOver(agent: string): JobFaultError {
  return faultFor('outcome-unknown', because('taken-over', { agent }));
}

/** Nothing from this label on is under way. */
function upTo(label: number) {
  return { base: label, intent: label, sent: label, document: undefined };
}
