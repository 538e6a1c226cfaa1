/** What agents of this process leave in the queue with their jobs, for tests. */
import { vi } from 'vitest';
import type { Queues } from '../../../src/queue/index.ts';

export interface KeptNotes extends Disposable {
  /** The newest note of a job that the queue has stored; undefined: none yet. */
  of(jobId: string): unknown;
}

/** Until it is disposed of, notes of jobs that are taken from these queues from now on. */
export function keepNotes(queues: Queues): KeptNotes {
  const notes = new Map<string, unknown>();
  const { consume } = queues;
  const spy = vi.spyOn(queues, 'consume').mockImplementation((lane, term, handle, options) =>
    consume.call(
      queues,
      lane,
      term,
      async (delivery) =>
        await handle({
          ...delivery,
          setNote: async (note) => {
            await delivery.setNote(note);
            notes.set(delivery.job.jobId, note);
          },
        }),
      options,
    ),
  );
  return { of: (jobId) => notes.get(jobId), [Symbol.dispose]: () => spy.mockRestore() };
}
