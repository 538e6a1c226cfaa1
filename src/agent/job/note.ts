/**
 * What one agent leaves with a job in the queue for the agent that gets it next. It is written before the first
 * byte goes to a printer, so a job without a note has never been sent to one.
 */
import { z } from 'zod';
import { agentId } from '../../contract/report.ts';
import type { Delivery } from '../../queue/index.ts';

const count = z.int().min(0);

/**
 * The counts of a job that may be under way, as its ledger has them: no label at or beyond `intent` was sent.
 * `sent` counts the labels that are known to have arrived.
 */
const notedLedger = z
  .object({
    ...{ base: count, odometer: z.int().nullable(), printed: count, sent: count, intent: count },
    /** How many pages of the job behind this one in the printer's row may be out too. */
    behind: count.optional(),
    /** The job ahead in the row, by its name in the queue. Its labels are counted before these. */
    ahead: z.string().optional(),
    /** The note of the job ahead does not mention this job (`behind`): no other agent wanted the printer when it was stored. */
    apart: z.literal(true).optional(),
  })
  .refine(({ base, printed, sent, intent }) => base <= printed && printed <= sent && sent <= intent);
export type NotedLedger = z.infer<typeof notedLedger>;

const note = z.object({
  agentId,
  /** The first label that was not printed, when that is certain; null while labels may be under way. */
  resumeAt: count.nullable(),
  /** Left out: all labels may be under way. */
  underWay: notedLedger.optional(),
});
export type Note = z.infer<typeof note>;

/** A job as its lane delivers it, with the note of an agent; null: there is none. */
export interface NotedDelivery extends Delivery<Note | null> {
  setNote(note: Note): Promise<void>;
}

/** Even a note that this version cannot read says that somebody has begun the job. */
export function noteIn(left: unknown): Note | null {
  if (left === undefined) return null;
  return note.safeParse(left).data ?? { agentId: 'of-another-version', resumeAt: null };
}
