/**
 * What a service tells Prometheus. No label names a job, a tenant, a printer or a record: the number of series is the same
 * for one printer and for ten thousand. Agents at other sites are named, each with a handful of series, as nobody can scrape them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { z } from 'zod';
import { PRINTER_REASONS, SUPPLY_STEPS } from '../contract/printer.ts';
import { type AgentCounts, agentCounts, agentId, type JobReport } from '../contract/report.ts';
import type { CheckPool } from '../rendering/check-pool.ts';
import { HEARTBEAT_LOST } from './printers/printers.ts';
import { onlyRow, type Pool } from './store/pool.ts';

/** s: from an answer of the service itself to a shift. */
const JOB_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];
const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** s that a lane's first job has waited for at least, as label values. */
const WAITED = [0, 60, 600, 3_600];
const ENDS = ['printed', 'failed', 'held', 'canceled'] as const;
const ATTEMPTS = ['taken', 'refused', 'unanswered'] as const;
const UNDER_WAY = ['queued', 'printing', 'held'] as const;
/** The state of a printer none of whose agents is heard. */
const STATES = ['idle', 'processing', 'stopped', 'unknown', 'offline'] as const;

/** ms for which an answer of the database serves all who ask: it counts all jobs that have not ended. */
const KEPT = 2_000;
/** ms for the database to answer; Prometheus waits 10 s. */
const LIMIT = 5_000;

const counted = z.record(z.string(), z.coerce.number());
const standing = z.object({
  jobs: counted,
  lanes: z.array(z.coerce.number()),
  oldest: z.coerce.number(),
  states: counted,
  reasons: counted,
  supplies: z.array(z.coerce.number()),
  agents: counted,
  sites: z.array(z.object({ agent: agentId, counts: agentCounts })),
});
type Standing = z.infer<typeof standing>;

type Parts = { pool: Pool; checks: Pick<CheckPool, 'load'> };

const printerIsHeard = `a.online AND a.seen_at > now() - make_interval(secs => ${HEARTBEAT_LOST})`;

/** A printer counts once, by the word of the agent that was heard last. */
const STANDING = `WITH waiting AS (
    SELECT extract(epoch FROM now() - min(created_at)) AS age FROM platen.jobs WHERE status = 'queued' GROUP BY lane),
  printers AS (
    SELECT DISTINCT ON (a.tenant_id, p.printer_id) p.reasons, p.supplies, ${printerIsHeard} AS heard,
        CASE WHEN ${printerIsHeard} THEN p.state ELSE 'offline' END AS state
      FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
      WHERE p.gone_at IS NULL ORDER BY a.tenant_id, p.printer_id, heard DESC, a.seen_at DESC)
  SELECT (SELECT coalesce(json_object_agg(status, n), '{}') FROM (
      SELECT status, count(*) AS n FROM platen.jobs WHERE status IN ('queued', 'printing', 'held') GROUP BY status) AS j) AS jobs,
    (SELECT json_agg((SELECT count(*) FROM waiting WHERE age >= least_age) ORDER BY least_age)
      FROM unnest($1::int[]) AS least_age) AS lanes,
    (SELECT coalesce(max(age), 0) FROM waiting) AS oldest,
    (SELECT coalesce(json_object_agg(state, n), '{}') FROM (
      SELECT state, count(*) AS n FROM printers GROUP BY state) AS s) AS states,
    (SELECT coalesce(json_object_agg(reason, n), '{}') FROM (
      SELECT reason, count(*) AS n FROM printers, unnest(reasons) AS reason WHERE heard GROUP BY reason) AS r) AS reasons,
    (SELECT json_agg((SELECT count(*) FROM printers WHERE heard AND
        (SELECT min((supply->>'left')::int) FROM json_array_elements(supplies) AS supply) <= most) ORDER BY most)
      FROM unnest($2::int[]) AS most) AS supplies,
    (SELECT json_build_object('online', count(*) FILTER (WHERE ${printerIsHeard}), 'offline',
      count(*) FILTER (WHERE NOT (${printerIsHeard}))) FROM platen.agents a WHERE NOT EXISTS (
        SELECT FROM platen.enrolled_agents e WHERE e.id = a.id AND e.revoked_at IS NOT NULL)) AS agents,
    (SELECT coalesce(json_agg(json_build_object('agent', a.id, 'counts', a.counts) ORDER BY a.id), '[]') FROM platen.agents a
      WHERE a.counts IS NOT NULL AND ${printerIsHeard}) AS sites`;

export class ServiceMetrics {
  readonly #registers: [Registry];
  readonly #pool: Pool;
  readonly #accepted: Counter;
  readonly #ended: Counter<'outcome'>;
  readonly #printed: Counter;
  readonly #took: Histogram<'outcome'>;
  readonly #attempts: Counter<'outcome'>;
  #asked: { at: number; answer: Promise<Standing | null> } | undefined;

  constructor(registry: Registry, parts: Parts) {
    this.#registers = [registry];
    this.#pool = parts.pool;
    const registers = this.#registers;
    this.#accepted = new Counter({
      name: 'platen_jobs_accepted_total',
      help: 'Jobs that this instance has accepted, reprints and test labels left out.',
      registers,
    });
    this.#ended = new Counter({
      name: 'platen_jobs_ended_total',
      help: 'Jobs that agents said have ended, by their outcome, as this instance heard it.',
      labelNames: ['outcome'],
      registers,
    });
    this.#printed = new Counter({
      name: 'platen_labels_printed_total',
      help: 'Labels of the jobs that ended printed.',
      registers,
    });
    this.#took = new Histogram({
      name: 'platen_job_duration_seconds',
      help: 'From the acceptance of a job to its end, for jobs about which no person had to decide.',
      labelNames: ['outcome'],
      buckets: JOB_SECONDS,
      registers,
    });
    this.#attempts = new Counter({
      name: 'platen_webhook_attempts_total',
      help: 'Attempts of this instance to tell a webhook or a receiver of alerts, by what came of it.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of ATTEMPTS) this.#attempts.inc({ outcome }, 0);
    // A rate needs a first value: series are there before the first job.
    for (const outcome of ENDS) {
      this.#ended.inc({ outcome }, 0);
      this.#took.zero({ outcome });
    }
    this.#databaseGauges();
    this.#sites();
    this.#ownGauges(parts);
  }

  accepted(): void {
    this.#accepted.inc();
  }

  /** @param report was news of a known job */
  reported({ status, jobId, labels, round }: JobReport): void {
    const outcome = ENDS.find((end) => end === status);
    if (outcome === undefined) return;
    this.#ended.inc({ outcome });
    if (outcome === 'printed') this.#printed.inc(labels.printed);
    if (round === undefined) {
      this.#took.observe({ outcome }, Math.max(0, Date.now() - madeAt(jobId)) / 1_000);
    }
  }

  /** @param status of a receiver's answer; null: there was none */
  told(status: number | null): void {
    const isTaken = status !== null && status >= 200 && status < 300;
    const outcome: (typeof ATTEMPTS)[number] = isTaken ? 'taken' : status === null ? 'unanswered' : 'refused';
    this.#attempts.inc({ outcome });
  }

  /** Counts the answers of the interface; all others are one series. */
  watch(app: FastifyInstance): void {
    const seconds = new Histogram({
      name: 'platen_http_request_duration_seconds',
      help: 'Answers of the service by route, method and status; "other" is the console, pages and unknown addresses.',
      labelNames: ['route', 'method', 'status'],
      buckets: HTTP_SECONDS,
      registers: this.#registers,
    });
    app.addHook('onResponse', async ({ routeOptions, method }, { statusCode, elapsedTime }) => {
      const isOfInterface = /^\/(?:v2|oauth)\//.test(routeOptions.url ?? '');
      const route = isOfInterface ? (routeOptions.url ?? 'other') : 'other';
      seconds.observe(
        { route, method: isOfInterface ? method : 'any', status: statusCode },
        elapsedTime / 1_000,
      );
    });
  }

  #databaseGauges(): void {
    this.#gauge(
      'platen_database_up',
      'Whether the database answers; without it the gauges of what it knows are left out.',
      [],
      (made, now) => made.set(now === null ? 0 : 1),
    );
    const known = <Label extends string>(
      name: string,
      help: string,
      labels: Label[],
      set: (made: Gauge<Label>, now: Standing) => void,
    ) =>
      this.#gauge(name, help, labels, (made, now) => {
        made.reset();
        // Nothing known is not the same as none: a gauge without labels would say 0.
        if (now === null) made.remove({});
        else set(made, now);
      });
    known('platen_jobs', 'Jobs that have not ended, by state.', ['status'], (made, { jobs }) => {
      for (const status of UNDER_WAY) made.set({ status }, jobs[status] ?? 0);
    });
    known(
      'platen_lanes_waiting',
      'Lanes with a job that waits, by the seconds for which the first one has waited at least.',
      ['seconds'],
      (made, { lanes }) => {
        for (const [index, seconds] of WAITED.entries()) made.set({ seconds }, lanes[index] ?? 0);
      },
    );
    known(
      'platen_oldest_waiting_job_seconds',
      'How long the job waits that waits longest.',
      [],
      (made, { oldest }) => made.set(oldest),
    );
    known(
      'platen_printers',
      'Printers by the state that their agents report; "offline": no agent of it is heard.',
      ['state'],
      (made, { states }) => {
        for (const state of STATES) made.set({ state }, states[state] ?? 0);
      },
    );
    known(
      'platen_printers_with_reason',
      'Printers that say this reason, paper and supplies among them.',
      ['reason'],
      (made, { reasons }) => {
        for (const reason of PRINTER_REASONS) made.set({ reason }, reasons[reason] ?? 0);
      },
    );
    known(
      'platen_printers_with_supply_at_most',
      'Printers that say how much is left, by the percent that their lowest supply has at most.',
      ['percent'],
      (made, { supplies }) => {
        for (const [index, percent] of SUPPLY_STEPS.entries()) made.set({ percent }, supplies[index] ?? 0);
      },
    );
    known('platen_agents', 'Agents by whether they are heard.', ['state'], (made, { agents }) => {
      for (const state of ['online', 'offline']) made.set({ state }, agents[state] ?? 0);
    });
  }

  /** Agents at other sites, each by its last heartbeat. */
  #sites(): void {
    const labelNames: ['agent'] = ['agent'];
    const registers = this.#registers;
    const sites = async () => (await this.#now())?.sites ?? [];
    const gauge = (name: string, help: string, value: (counts: AgentCounts) => number) =>
      new Gauge({
        ...{ name, help, labelNames, registers },
        async collect() {
          this.reset();
          for (const { agent, counts } of await sites()) this.set({ agent }, value(counts));
        },
      });
    const counter = (name: string, help: string, value: (counts: AgentCounts) => number) =>
      new Counter({
        ...{ name, help, labelNames, registers },
        async collect() {
          this.reset();
          for (const { agent, counts } of await sites()) this.inc({ agent }, value(counts));
        },
      });
    gauge(
      'platen_site_jobs_in_hand',
      'Jobs that the agent has taken and not yet let go.',
      ({ jobsInHand }) => jobsInHand,
    );
    gauge(
      'platen_site_render_threads_busy',
      'Threads of the agent that make a label now.',
      ({ renderThreads }) => renderThreads.busy,
    );
    gauge(
      'platen_site_resident_memory_bytes',
      'Memory of the process of the agent.',
      ({ residentBytes }) => residentBytes,
    );
    counter(
      'platen_site_report_failures_total',
      'Attempts of the agent to report that the service did not take.',
      ({ reportFailures }) => reportFailures,
    );
    counter(
      'platen_site_first_bytes_total',
      'Jobs of which the agent has sent the first byte to the printer.',
      ({ firstBytes }) => firstBytes,
    );
    counter(
      'platen_site_first_byte_seconds_total',
      'From the taking of those jobs to their first byte, summed.',
      ({ firstByteSeconds }) => firstByteSeconds,
    );
  }

  #ownGauges({ pool, checks }: Parts): void {
    const registers = this.#registers;
    new Gauge({
      name: 'platen_database_connections',
      help: 'Connections of this instance to the database, by state; "wanted": requests that wait for one.',
      labelNames: ['state'],
      registers,
      collect() {
        this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
        this.set({ state: 'idle' }, pool.idleCount);
        this.set({ state: 'wanted' }, pool.waitingCount);
      },
    });
    new Gauge({
      name: 'platen_check_threads',
      help: 'Threads that check templates and values, by state; "wanted": checks that wait for one.',
      labelNames: ['state'],
      registers,
      collect() {
        for (const [state, count] of Object.entries(checks.load)) this.set({ state }, count);
      },
    });
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    set: (made: Gauge<Label>, now: Standing | null) => void,
  ): void {
    const made: Gauge<Label> = new Gauge({
      ...{ name, help, labelNames, registers: this.#registers },
      collect: async () => set(made, await this.#now()),
    });
  }

  /** What the database knows; null: it does not answer in time. */
  async #now(): Promise<Standing | null> {
    const asked = this.#asked;
    if (asked !== undefined && performance.now() - asked.at < KEPT) return await asked.answer;
    const answer = this.#ask();
    this.#asked = { at: performance.now(), answer };
    return await answer;
  }

  async #ask(): Promise<Standing | null> {
    const late = new AbortController();
    const query = onlyRow(this.#pool, standing, STANDING, [WAITED, SUPPLY_STEPS]).catch(() => null);
    try {
      return await Promise.race([query, wait(LIMIT, null, { signal: late.signal })]);
    } finally {
      late.abort();
    }
  }
}

/** When a job was accepted, ms: its ID is a UUID of version 7, which begins with the time (RFC 9562 §5.7). */
function madeAt(jobId: string): number {
  return Number.parseInt(jobId.replace('-', '').slice(0, 12), 16);
}
