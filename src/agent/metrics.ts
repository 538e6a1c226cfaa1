/** What an agent tells Prometheus. No label names a job, a tenant or a printer. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { PRINTER_REASONS, type PrinterDescription, printerState, SUPPLY_STEPS } from '../contract/printer.ts';
import { JOB_ENDS, type JobMetrics } from './counted-queue.ts';

/** s */
const FIRST_BYTE_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const REPORT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

interface Counted {
  readonly printers: readonly Pick<PrinterDescription, 'state' | 'reasons' | 'supplies'>[];
  readonly renderThreads: { busy: number; idle: number };
}

/** Counts jobs and their reports for Prometheus. */
export function jobMetricsFor(registry: Registry): JobMetrics {
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
  for (const outcome of JOB_ENDS) ended.inc({ outcome }, 0);
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
  return {
    taken: () => inHand.inc(),
    letGo: () => inHand.dec(),
    firstByte: (seconds) => firstByte.observe(seconds),
    reported: (seconds) => published.observe(seconds),
    ended: (outcome) => ended.inc({ outcome }),
    reportFailed: () => failures.inc(),
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
    name: 'platen_agent_printers_with_supply_at_most',
    help: 'Printers of this agent that say how much is left, by the percent that their lowest supply has at most.',
    labelNames: ['percent'],
    registers,
    collect() {
      const lowest = agent.printers.map(({ supplies = [] }) => Math.min(...supplies.map(({ left }) => left)));
      for (const percent of SUPPLY_STEPS) {
        this.set({ percent }, lowest.filter((left) => left <= percent).length);
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
