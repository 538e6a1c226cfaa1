/** Wraps a source of jobs, to count what an agent takes from its queue and reports to it. */
import type { Delivery, JobSource } from '../queue/index.ts';

export const JOB_ENDS = ['printed', 'failed', 'held', 'canceled'] as const;
type JobEnd = (typeof JOB_ENDS)[number];

/** Is told of each event that is counted. */
export interface Counting {
  taken(): void;
  letGo(): void;
  /** @param seconds from the taking of a job to its first byte at the printer */
  firstByte(seconds: number): void;
  /** @param seconds from the report of a job to its commit */
  reported(seconds: number): void;
  ended(outcome: JobEnd): void;
  reportFailed(): void;
}

export function countedSource(source: JobSource, counting: Counting): JobSource {
  const timed = (delivery: Delivery): Delivery => {
    const takenAt = performance.now();
    let isSent = false;
    const sends = () => {
      if (!isSent) counting.firstByte((performance.now() - takenAt) / 1_000);
      isSent = true;
    };
    return { ...delivery, sends };
  };
  return {
    askLeases: (agent, asks, length) => source.askLeases(agent, asks, length),
    giveLeaseBack: (agent, lane, term) => source.giveLeaseBack(agent, lane, term),
    consume: (lane, term, handler, options) =>
      source.consume(
        lane,
        term,
        async (delivery) => {
          counting.taken();
          try {
            return await handler(timed(delivery));
          } finally {
            counting.letGo();
          }
        },
        options,
      ),
    async publish(report, scope) {
      const askedAt = performance.now();
      try {
        const place = await source.publish(report, scope);
        if (report.kind === 'agent') return place;
        counting.reported((performance.now() - askedAt) / 1_000);
        const outcome = JOB_ENDS.find((end) => end === report.status);
        if (outcome !== undefined) counting.ended(outcome);
        return place;
      } catch (error) {
        counting.reportFailed();
        throw error;
      }
    },
  };
}
