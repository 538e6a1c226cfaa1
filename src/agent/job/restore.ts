/** Where a job that is delivered again stands, by what the agent's journal and the queue know. */
import { faultFor } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { Ledger } from './ledger.ts';
import type { Note, UnderWay } from './note.ts';

/**
 * Brings the ledger to where the job was left.
 * @param note left with it in the queue
 * @throws JobFaultError `outcome-unknown`
 */
export function restore(ledger: Ledger, note: Note | null, agentId: string): void {
  const own = note === null || note.agentId === agentId;
  if (own && ledger.found !== null) {
    ledger.restore(ledger.found.entry);
    // The job may have been at another kind of device, whose counter began elsewhere.
    if (!ledger.uncertain) ledger.restore({ odometer: null, ...upTo(Math.max(ledger.base, ledger.printed)) });
  } else if (note?.resumeAt === null) {
    const underWay: Partial<UnderWay> = note.underWay ?? {};
    const { behind, ahead, intent = ledger.total, ...left } = underWay;
    ledger.restore({ ...left, intent: Math.min(intent, ledger.total) }, behind);
    const counts = !own && ledger.odometer !== null;
    if (counts && ahead !== undefined && ledger.settleWith(ahead)) return;
    if (counts && !ledger.sentOthersSince) return;
    // Only the agent that had the job could tell which labels are out.
    const agent = note.agentId;
    throw faultFor('outcome-unknown', own ? because('journal-lost', {}) : because('taken-over', { agent }));
  } else if (note !== null) {
    ledger.restore({ printed: note.resumeAt, ...upTo(note.resumeAt) });
  }
}

/** Nothing from this label on is under way. */
function upTo(label: number) {
  return { base: label, intent: label, sent: label, document: undefined };
}
