/** Jobs straight from the process's own queue connection: `platen up`, and agents on a trusted network. */
import type { AgentQueue } from '../../queue/index.ts';
import type { JobSource } from './job-source.ts';
import { noteIn } from './note.ts';

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
          const result = await handler({ ...delivery, note: noteIn(note), signal });
          // After a hand-back the consumer waits to be resumed, after an exception only for a while. The
          // latter is right for a job that the queue took away, since it comes again.
          if (result === 'hand-back' && signal.aborted) throw signal.reason;
          return result;
        },
        {
          onUnreadable: ({ queueId, issues, note }) => onUnreadable(queueId, issues, noteIn(note)),
          onMarked,
        },
      );
    },
  };
}
