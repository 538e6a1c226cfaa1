/**
 * What an agent tells Prometheus, read off what it takes from its queue and reports to it. No label names a job, a tenant or a
 * printer.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PRINTER_REASONS, type PrinterDescription, printerState } from '../contract/printer.ts';
import type { JobSource, PickedUpJob } from './source/job-source.ts';

/** s */
const FIRST_BYTE_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const REPORT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const ENDS = ['printed', 'failed', 'held', 'canceled'] as const;

interface Counted {
  readonly printers: readonly Pick<PrinterDescription, 'state' | 'reasons'>[];
  readonly renderThreads: { busy: number; idle: number };
}

/** The source, whose jobs and reports are counted. */
export function countedSource(source: JobSource, registry: Registry): JobSource {
  const registers: [Registry] = [registry];
  const inHand = new Gauge({
    name: 'platen_agent_jobs_in_hand',
    help: 'Jobs that this agent has taken and not yet let go.',
    registers,
  });
  const ended = new Counter({
    name: 'platen_agent_jobs_ended_total',
    help: 'Jobs that this agent has reported as ended, by their outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ENDS) ended.inc({ outcome }, 0);
  const failures = new Counter({
    name: 'platen_agent_report_failures_total',
    help: 'Reports that the queue did not take at the first attempt, or at a later one.',
    registers,
  });
  const published = new Histogram({
    name: 'platen_agent_report_duration_seconds',
    help: 'From the report of a job to its commit: a turn with the queue, and the wait for the turn ahead.',
    buckets: REPORT_SECONDS,
    registers,
  });
  const firstByte = new Histogram({
    name: 'platen_agent_first_byte_seconds',
    help: 'From the taking of a job to its first byte at the printer.',
    buckets: FIRST_BYTE_SECONDS,
    registers,
  });
  const timed = (delivery: PickedUpJob): PickedUpJob => {
    const takenAt = performance.now();
    let isSent = false;
    const sends = () => {
      if (!isSent) firstByte.observe((performance.now() - takenAt) / 1_000);
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
          inHand.inc();
          try {
            return await handler(timed(delivery));
          } finally {
            inHand.dec();
          }
        },
        options,
      ),
    async publish(report, scope) {
      const askedAt = performance.now();
      try {
        const place = await source.publish(report, scope);
        if (report.kind === 'agent') return place;
        published.observe((performance.now() - askedAt) / 1_000);
        const outcome = ENDS.find((end) => end === report.status);
        if (outcome !== undefined) ended.inc({ outcome });
        return place;
      } catch (error) {
        failures.inc();
        throw error;
      }
    },
  };
}

/** Gauges of an agent: its printers, and the threads that make labels. */
export function watchAgent(agent: Counted, registry: Registry): void {
  const registers: [Registry] = [registry];
  new Gauge({
    name: 'platen_agent_printers',
    help: 'Printers of this agent by their state.',
    labelNames: ['state'],
    registers,
    collect() {
      const states = Object.groupBy(agent.printers, (printer) => printer.state);
      for (const state of printerState.options) this.set({ state }, states[state]?.length ?? 0);
    },
  });
  new Gauge({
    name: 'platen_agent_printers_with_reason',
    help: 'Printers of this agent that say this reason, paper and supplies among them.',
    labelNames: ['reason'],
    registers,
    collect() {
      const said = agent.printers.flatMap(({ reasons }) => reasons);
      for (const reason of PRINTER_REASONS) {
        this.set({ reason }, said.filter((one) => one === reason).length);
      }
    },
  });
  new Gauge({
    name: 'platen_agent_render_threads',
    help: 'Threads that make labels, by state.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(agent.renderThreads)) this.set({ state }, count);
    },
  });
}
