/** Counts what an enrolled agent says of itself with its heartbeat: nobody else can reach its machine to ask. */
import type { AgentCounts } from '../contract/report.ts';
import type { JobMetrics } from './counted-queue.ts';

export class HeartbeatMetrics implements JobMetrics {
  #jobsInHand = 0;
  #reportFailures = 0;
  #firstBytes = 0;
  #firstByteSeconds = 0;

  taken(): void {
    this.#jobsInHand++;
  }

  letGo(): void {
    this.#jobsInHand--;
  }

  firstByte(seconds: number): void {
    this.#firstBytes++;
    this.#firstByteSeconds += seconds;
  }

  /** Not counted here: the service sees the reports themselves. */
  reported(): void {}
  ended(): void {}

  reportFailed(): void {
    this.#reportFailures++;
  }

  said(renderThreads: AgentCounts['renderThreads']): AgentCounts {
    return {
      jobsInHand: this.#jobsInHand,
      reportFailures: this.#reportFailures,
      firstBytes: this.#firstBytes,
      firstByteSeconds: this.#firstByteSeconds,
      renderThreads,
      residentBytes: process.memoryUsage.rss(),
    };
  }
}
