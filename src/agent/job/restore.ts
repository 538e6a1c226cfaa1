/** Where a job that is delivered again stands, by what the agent's journal and the queue know. */
import { faultFor } from '../../contract/fault.ts';
import { because } from '../../contract/reason.ts';
import type { HandoverNote } from '../source/job-source.ts';
import type { Ledger } from './ledger.ts';

/**
 * Brings the ledger to where the job was left.
 * @param note left with it in the queue
 * @throws JobFaultError `outcome-unknown`
 */
export function restore(ledger: Ledger, note: HandoverNote | null, agentId: string): void {
  const own = note === null || note.agentId === agentId;
  if (own && ledger.found !== null) {
    ledger.restore(ledger.found.entry);
    // Another kind of device may have had it, which counted from elsewhere.
    if (!ledger.uncertain) ledger.restore({ odometer: null, ...upTo(Math.max(ledger.base, ledger.printed)) });
  } else if (note?.resumeAt === null) {
    const left = note.underWay;
    ledger.restore({ ...left, intent: Math.min(left?.intent ?? ledger.total, ledger.total) });
    const counted = left !== undefined && left.odometer !== null;
    if (counted && note.agentId !== agentId && !ledger.sentOthersSince) return;
    // Which labels are out, only the agent that had it could tell.
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
