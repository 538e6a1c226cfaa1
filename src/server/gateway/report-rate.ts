/**
 * How fast an agent's reports are taken, over all its connections. They are applied in the order in which all agents have told
 * them, so what one says too often would keep everybody's waiting.
 */
import type { Report } from '../../contract/report.ts';

/** Reports of an agent in a second, and at once. */
const RATES = {
  /** Each is a commit for whoever applies it. What an agent with 5,000 printers says in a row counts as a hundred. */
  agent: { perSecond: 20, atOnce: 100 },
  /** A job of one label has two or three; at printers that print in no time an agent ends some three hundred jobs a second. */
  job: { perSecond: 1_000, atOnce: 2_000 },
} as const;
/** So many printers in a state count as a state: each that has changed is a row, and news for webhooks. */
const PRINTERS = 50;
/** How long one may wait for its turn, ms: longer than all that an agent may have without an answer. */
const LATEST = 5_000;

export class ReportRate {
  /** By kind and agent: when it would have said all its reports, so many a second, ms. */
  readonly #said = new Map<string, number>();

  /**
   * Counts the report.
   * @param now by `performance.now`
   * @returns after how many ms it may be published
   * @throws Error where the agent says far more than it may; then it does not count
   */
  late(report: Report, now: number): number {
    const { perSecond, atOnce } = RATES[report.kind];
    const each = 1_000 / perSecond;
    const states = report.kind === 'agent' ? Math.max(1, report.printers.length / PRINTERS) : 1;
    const key = `${report.kind} ${report.agentId}`;
    const said = Math.max(now, this.#said.get(key) ?? 0) + states * each;
    const late = said - now - atOnce * each;
    if (late > LATEST) throw new Error('the agent reports more often than it may');
    this.#said.set(key, said);
    return Math.max(0, late);
  }
}
