/** Wraps an agent's queue, to count what the agent takes from it and reports to it. */
import type { Delivery, DeliveryQueue } from '../queue/index.ts';

export const JOB_ENDS = ['printed', 'failed', 'held', 'canceled'] as const;
type JobEnd = (typeof JOB_ENDS)[number];

/** Is told of each event that is counted. */
export interface JobMetrics {
  taken(): void;
  letGo(): void;
  /** @param seconds from the taking of a job to its first byte at the printer */
  firstByte(seconds: number): void;
  /** @param seconds from the report of a job to its commit */
  reported(seconds: number): void;
  ended(outcome: JobEnd): void;
  reportFailed(): void;
}

export function countedQueue(queue: DeliveryQueue, metrics: JobMetrics): DeliveryQueue {
  const timed = (delivery: Delivery): Delivery => {
    const takenAt = performance.now();
    let isSent = false;
    const sends = () => {
      if (!isSent) metrics.firstByte((performance.now() - takenAt) / 1_000);
      isSent = true;
    };
    return { ...delivery, sends };
  };
  return {
    askLeases: (agent, asks, length) => queue.askLeases(agent, asks, length),
    giveLeaseBack: (agent, lane, term) => queue.giveLeaseBack(agent, lane, term),
    consume: (lane, term, handler, options) =>
      queue.consume(
        lane,
        term,
        async (delivery) => {
          metrics.taken();
          try {
            return await handler(timed(delivery));
          } finally {
            metrics.letGo();
          }
        },
        options,
      ),
    async publish(report, scope) {
      const askedAt = performance.now();
      try {
        const published = await queue.publish(report, scope);
        if (report.kind === 'agent') return published;
        metrics.reported((performance.now() - askedAt) / 1_000);
        const outcome = JOB_ENDS.find((end) => end === report.status);
        if (outcome !== undefined) metrics.ended(outcome);
        return published;
      } catch (error) {
        metrics.reportFailed();
        throw error;
      }
    },
  };
}
