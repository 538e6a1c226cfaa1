/**
 * Tells open pages what has changed: jobs, printers, agents at other sites, and tenants (their templates, people or
 * integrations). Every instance tells every other one through PostgreSQL's NOTIFY. A notification holds only IDs; an instance
 * with listeners looks up which tenants may see them. Changes are gathered for a moment, so that a thousand labels a second
 * make only a few notifications. Changes can be lost: a connection breaks, or there are too many at once. Then the listeners
 * of this instance are told to ask for everything again. If the instance could not tell its own changes, the listeners of all
 * other instances are told so too.
 */
import type { PoolConfig } from 'pg';
import { z } from 'zod';
import { jobId } from '../../contract/job-id.ts';
import type { Changed, Changes } from '../../contract/people.ts';
import type { Logger } from '../../log.ts';
import { ErrorLogger, NotificationConnection } from '../../queue/index.ts';
import { REPORTED, seenIn } from '../printers/printers.ts';
import { type Pool, rowsOf } from '../store/pool.ts';

const CHANNEL = 'platen_changes';
/** ms for which changes are gathered before the NOTIFY, and again before they are passed on to listeners. */
const GATHER = 200;
/** Most bytes of IDs in one notification. PostgreSQL takes a payload of less than 8,000 bytes. */
const MOST_BYTES = 7_000;
/** Most changes that are gathered at once. If there are more, everything counts as changed. */
const MOST_CHANGES = 2_000;
/** The payload that says that anything may have changed. */
const EVERYTHING = JSON.stringify({ all: true });

const told = z.object({
  /** As reports name them, so that no agent can name a job that makes everything count as changed. */
  jobs: z.array(jobId).default([]),
  printers: z.array(z.string()).default([]),
  agents: z.array(z.string()).default([]),
  tenants: z.array(z.string()).default([]),
  all: z.boolean().default(false),
});
const jobOwner = z.object({ id: z.string(), tenant_id: z.string() });
const scoped = z.object({ id: z.string(), scope: z.string().nullable() });
/** A kind of listener, and a printer that such listeners may see. */
const seen = z.object({ who: z.string(), id: z.string() });

/** `all`: anything may have changed. */
export type News = Changes | 'all';
/**
 * `hear` is called with the changes that `tenant` may see; if `tenant` is undefined, with those of all tenants.
 * `everywhere`: the listener may also see the agents of all tenants, and all shared printers.
 */
type ChangeListener = { tenant: string | undefined; everywhere?: boolean; hear: (news: News) => void };

/** The IDs gathered so far; more than `MOST_CHANGES` become `all`. */
class Gathered {
  readonly jobs = new Set<string>();
  readonly printers = new Set<string>();
  readonly agents = new Set<string>();
  readonly tenants = new Set<string>();
  all = false;

  add({ jobs = [], printers = [], agents = [], tenants = [], all = false }: Changed): void {
    for (const id of jobs) this.jobs.add(id);
    for (const id of printers) this.printers.add(id);
    for (const id of agents) this.agents.add(id);
    for (const id of tenants) this.tenants.add(id);
    const count = this.jobs.size + this.printers.size + this.agents.size + this.tenants.size;
    if (all || count > MOST_CHANGES) this.all = true;
  }

  /** The payloads of the notifications that tell these changes, each with at most `MOST_BYTES` of IDs. */
  payloads(): string[] {
    if (this.all) return [EVERYTHING];
    const payloads: string[] = [];
    const none = (): Changes => ({ jobs: [], printers: [], agents: [], tenants: [] });
    let part = none();
    let bytes = 0;
    const put = (kind: keyof Changes, id: string) => {
      const size = Buffer.byteLength(JSON.stringify(id)) + 1;
      if (bytes + size > MOST_BYTES) {
        payloads.push(JSON.stringify(part));
        part = none();
        bytes = 0;
      }
      part[kind].push(id);
      bytes += size;
    };
    for (const id of this.jobs) put('jobs', id);
    for (const id of this.printers) put('printers', id);
    for (const id of this.agents) put('agents', id);
    for (const id of this.tenants) put('tenants', id);
    return bytes === 0 ? payloads : [...payloads, JSON.stringify(part)];
  }
}

export class ChangeFeed {
  readonly #notifications: NotificationConnection;
  /** This feed has made its own notifications, so it also closes them. */
  readonly #areOwn: boolean;
  readonly #pool: Pool;
  readonly #logger: Logger;
  readonly #listeners = new Set<ChangeListener>();
  readonly #ended = new AbortController();
  #silence: () => void = () => undefined;
  #toTell: Gathered | undefined;
  #toHear: Gathered | undefined;
  /** Changes were lost before any instance was told of them. */
  #untold = false;

  /** @param parts `notifications`: the queues' own, if they are in the same database; if left out, the feed makes its own */
  constructor(parts: {
    notifications?: NotificationConnection | undefined;
    database: PoolConfig;
    pool: Pool;
    logger: Logger;
  }) {
    this.#areOwn = parts.notifications === undefined;
    this.#notifications =
      parts.notifications ?? new NotificationConnection(parts.database, new ErrorLogger(parts.logger));
    this.#pool = parts.pool;
    this.#logger = parts.logger;
  }

  start(): void {
    this.#silence = this.#notifications.listen(CHANNEL, {
      heard: (payload) => this.#heard(payload),
      ready: () => this.#ready(),
    });
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    this.#silence();
    if (this.#areOwn) await this.#notifications.close();
  }

  /**
   * The connection is there again. Without it, this instance has not heard what changed elsewhere. And if it could not tell its
   * own changes, the other instances have not heard of these.
   */
  #ready(): void {
    this.#everything();
    if (!this.#untold) return;
    this.#untold = false;
    this.#send([EVERYTHING]).catch((error: unknown) => this.#notTold(error));
  }

  /** Tells the pages of all instances, after a moment. Never throws: if it fails, the pages are told to ask for everything. */
  tell(changes: Changed): void {
    if (this.#ended.signal.aborted) return;
    if (this.#toTell === undefined) {
      this.#toTell = new Gathered();
      this.#after(GATHER, () => this.#notify());
    }
    this.#toTell.add(changes);
  }

  /** @returns a function that removes the listener */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #after(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      // This instance ends. Its pages will ask another instance.
      if (this.#ended.signal.aborted) return;
      work().catch((error: unknown) => this.#notTold(error));
    }, ms);
    timer.unref();
  }

  #notTold(error: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.#logger.warn({ err: error }, 'changes could not be told to open pages');
    this.#everything();
  }

  async #notify(): Promise<void> {
    const payloads = this.#toTell?.payloads() ?? [];
    this.#toTell = undefined;
    if (payloads.length === 0) return;
    await this.#send(payloads);
  }

  /** If this fails, all instances are told to ask for everything once the connection is there again. */
  async #send(payloads: string[]): Promise<void> {
    try {
      if (!(await this.#notifications.tell(CHANNEL, payloads))) this.#untold = true;
    } catch (error) {
      this.#untold = true;
      throw error;
    }
  }

  #heard(payload: string): void {
    if (this.#listeners.size === 0) return;
    if (this.#toHear === undefined) {
      this.#toHear = new Gathered();
      this.#after(GATHER, () => this.#passOn());
    }
    // An instance of another version may send a payload that this one cannot read.
    this.#toHear.add(read(payload) ?? { all: true });
  }

  async #passOn(): Promise<void> {
    const heard = this.#toHear;
    this.#toHear = undefined;
    if (heard === undefined || this.#listeners.size === 0) return;
    if (heard.all) return this.#everything();
    const whoOf = ({ tenant, everywhere = false }: ChangeListener) => JSON.stringify([tenant, everywhere]);
    const listening = new Map([...this.#listeners].map((one) => [whoOf(one), one]));
    const [jobs, printers, agents] = await Promise.all([
      heard.jobs.size === 0
        ? []
        : rowsOf(this.#pool, jobOwner, 'SELECT id, tenant_id FROM platen.jobs WHERE id = ANY($1)', [
            [...heard.jobs],
          ]),
      heard.printers.size === 0
        ? []
        : rowsOf(
            this.#pool,
            seen,
            `SELECT DISTINCT l.who, p.printer_id AS id FROM ${REPORTED}
             JOIN json_to_recordset($2) AS l(who text, tenant text, shared boolean)
               ON ${seenIn({ tenant: 'l.tenant', shared: 'l.shared' })}
             WHERE p.printer_id = ANY($1)`,
            [
              [...heard.printers],
              JSON.stringify(
                [...listening].map(([who, { tenant, everywhere: shared = false }]) => ({
                  who,
                  tenant,
                  shared,
                })),
              ),
            ],
          ),
      heard.agents.size === 0
        ? []
        : rowsOf(
            this.#pool,
            scoped,
            'SELECT id, tenant_id AS scope FROM platen.enrolled_agents WHERE id = ANY($1)',
            [[...heard.agents]],
          ),
    ]);
    const cache = new Map<string, Changes>();
    for (const listener of this.#listeners) {
      const { tenant, everywhere = false, hear } = listener;
      const who = whoOf(listener);
      const sees = ({ scope }: z.infer<typeof scoped>) =>
        tenant === undefined || scope === null || scope === tenant;
      const news = cache.get(who) ?? {
        jobs: jobs.filter((job) => tenant === undefined || job.tenant_id === tenant).map(({ id }) => id),
        printers: printers.filter((one) => one.who === who).map(({ id }) => id),
        agents: agents.filter((one) => everywhere || sees(one)).map(({ id }) => id),
        tenants: [...heard.tenants].filter((id) => tenant === undefined || id === tenant),
      };
      cache.set(who, news);
      if (news.jobs.length + news.printers.length + news.agents.length + news.tenants.length > 0) hear(news);
    }
  }

  #everything(): void {
    for (const { hear } of this.#listeners) hear('all');
  }
}

function read(payload: string): z.infer<typeof told> | undefined {
  try {
    return told.safeParse(JSON.parse(payload)).data;
  } catch {
    return undefined;
  }
}
