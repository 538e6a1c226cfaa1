/** Jobs straight from the process's own queue connection: `platen up`, and agents on a trusted network. */
import { z } from 'zod';
import { agentId } from '../../contract/report.ts';
import type { AgentQueue } from '../../queue/index.ts';
import type { HandoverNote, JobSource } from './job-source.ts';

const count = z.int().min(0);
const underWay = z
  .object({
    ...{ base: count, odometer: z.int().nullable(), printed: count, sent: count, intent: count },
    ...{ behind: count.optional(), ahead: z.string().optional() },
  })
  .refine(({ base, printed, sent, intent }) => base <= printed && printed <= sent && sent <= intent);
const handoverNote = z.object({ agentId, resumeAt: count.nullable(), underWay: underWay.optional() });

/** @param queues stays the caller's to close, after the agent has stopped */
export function queueSource(queues: AgentQueue): JobSource {
  return {
    publish: (report, scope) => queues.publish(report, scope),
    askLeases: (agent, asks, length) => queues.askLeases(agent, asks, length),
    giveLeaseBack: (agent, lane, term) => queues.giveLeaseBack(agent, lane, term),
    async consume(lane, term, handler, { onUnreadable, onMarked }) {
      return await queues.consume(
        lane,
        term,
        async ({ note, signal, ...delivery }) => {
          const result = await handler({ ...delivery, note: left(note), signal });
          // After a hand-back the consumer waits to be resumed, after an exception only for a while. The
          // latter is right for a job that the queue took away, since it comes again.
          if (result === 'hand-back' && signal.aborted) throw signal.reason;
          return result;
        },
        {
          onUnreadable: ({ queueId, issues, note }) => onUnreadable(queueId, issues, left(note)),
          onMarked,
        },
      );
    },
  };
}

/** A note that another version wrote, and this one cannot read, says all the same that somebody has begun. */
function left(note: unknown): HandoverNote | null {
  if (note === undefined) return null;
  return handoverNote.safeParse(note).data ?? { agentId: 'of-another-version', resumeAt: null };
}
