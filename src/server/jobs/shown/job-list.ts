/**
 * The list of jobs, page by page, the newest first, and how many there are in each state. What is asked is answered
 * from an index, whatever a tenant has printed before; jobs of one state are counted up to a limit.
 *
 * A page ends with a key, the time and ID of its last job, and the next one begins behind it: nothing is skipped or
 * told twice when jobs arrive meanwhile. Over a whole deployment it is merged from the pages of its tenants.
 */
import { z } from 'zod';
import type { JobView } from '../../../contract/job.ts';
import { jobId } from '../../../contract/job-id.ts';
import { JOB_STATUSES } from '../../../contract/job-life.ts';
import {
  type JobCountFilter,
  type JobCounts,
  type JobFilter,
  type JobPage,
  jobCounts,
  MOST_COUNTED,
} from '../../../contract/job-search.ts';
import type { Lane } from '../../../contract/lane.ts';
import { onlyRow, type Pool, rowsOf } from '../../store/pool.ts';
import { COLUMNS, jobRow, jobViewOf } from './job-row.ts';

/** Printers or templates that a name may stand for. */
const MOST_NAMED = 100;

/** What jobs were accepted for, by what it was called then: it may be gone, or be called otherwise. */
const ONCE_NAMED = (kind: 'printer' | 'template') => `SELECT id FROM platen.job_names
    WHERE kind = '${kind}' AND (name = $1 OR starts_with(id, $1)) AND ($2::text IS NULL OR tenant_id = $2)`;
const PRINTERS_NAMED = `SELECT p.printer_id AS id FROM platen.agent_printers p JOIN platen.agents a ON a.id = p.agent_id
    WHERE (p.name = $1 OR starts_with(p.printer_id, $1)) AND ($2::text IS NULL OR coalesce(a.tenant_id, $2) = $2)
  UNION SELECT regexp_replace(lane, '^.*/', '') FROM platen.lane_settings
    WHERE display_name = $1 AND ($2::text IS NULL OR position('/' in lane) = 0 OR starts_with(lane, $2 || '/'))
  UNION ${ONCE_NAMED('printer')}`;
const TEMPLATES_NAMED = `SELECT id FROM platen.templates
    WHERE (name = $1 OR starts_with(id, $1)) AND ($2::text IS NULL OR tenant_id = $2)
  UNION ${ONCE_NAMED('template')}`;

/** Sorts as the time does, to the microsecond. */
const KEY_TIME = `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const listedRow = jobRow.extend({ key_time: z.string() });

/** Conditions on `platen.jobs AS j` of the tenant `t`, and their values. */
class Conditions {
  readonly values: unknown[] = [];
  readonly sql: string[] = ['j.tenant_id = t.id'];
  /** What is looked for one after the other, each along its index. */
  from = 'platen.tenants t';
  readonly #newest: boolean;

  /** @param newest the newest are wanted; otherwise it is how many there are */
  constructor({ newest }: { newest: boolean }) {
    this.#newest = newest;
  }

  /** @param sql with `?` for the value */
  add(sql: string, value: unknown): this {
    this.sql.push(sql.replaceAll('?', this.value(value)));
    return this;
  }

  /** What stands for the value. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Any of these. The newest of each are found at once, of several together only among all of them. */
  addOneOf(column: 'printer_id' | 'template_id', ids: readonly string[]): void {
    if (ids.length === 0) this.sql.push('false');
    else if (ids.length === 1) this.add(`j.${column} = ?`, ids[0]);
    else if (!this.#newest || this.from.includes('unnest')) this.add(`j.${column} = ANY(?)`, ids);
    else {
      this.from += ` CROSS JOIN unnest(${this.value(ids)}::text[]) AS one (id)`;
      this.sql.push(`j.${column} = one.id`);
    }
  }

  get text(): string {
    return this.sql.join(' AND ');
  }
}

export class JobList {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** @param filter without a tenant: of all of them */
  async page(filter: JobFilter): Promise<JobPage> {
    const where = await this.#conditions(filter, { newest: true });
    if (filter.status !== undefined) {
      // One is looked up as it is; any of several would be looked for among all others.
      where.add(
        filter.status.length === 1 ? 'j.status = (?::text[])[1]' : 'j.status = ANY(?)',
        filter.status,
      );
    }
    if (filter.after !== undefined) {
      const [time, id] = filter.after.split('_');
      where.sql.push(`(j.created_at, j.id) < (${where.value(time)}::timestamptz, ${where.value(id)}::uuid)`);
    }
    const limit = where.value(filter.limit + 1);
    const rows = await rowsOf(
      this.#pool,
      listedRow,
      `SELECT ${COLUMNS}, ${KEY_TIME} AS key_time FROM platen.jobs
       WHERE id IN (SELECT found.id FROM ${where.from} CROSS JOIN LATERAL (
         SELECT j.id, j.created_at FROM platen.jobs j WHERE ${where.text}
         ORDER BY j.created_at DESC, j.id DESC LIMIT ${limit}) AS found
         ${this.#ofTenant(where, filter.tenant)} ORDER BY found.created_at DESC, found.id DESC LIMIT ${limit})
       ORDER BY created_at DESC, id DESC`,
      where.values,
    );
    const shown = rows.slice(0, filter.limit);
    const last = shown.at(-1);
    return {
      jobs: shown.map(jobViewOf),
      next: rows.length > filter.limit && last !== undefined ? `${last.key_time}_${last.id}` : null,
    };
  }

  /** These, as far as they are of the tenant, or (undefined) of any; the oldest first. */
  async byIds(ids: readonly string[], tenant: string | undefined): Promise<JobView[]> {
    const rows = await rowsOf(
      this.#pool,
      jobRow,
      `SELECT ${COLUMNS} FROM platen.jobs WHERE id = ANY($1) AND ($2::text IS NULL OR tenant_id = $2) ORDER BY seq`,
      [ids.filter((id) => jobId.safeParse(id).success), tenant ?? null],
    );
    return rows.map(jobViewOf);
  }

  /** What waits in a lane, of a tenant or (undefined) of any; what would be printed last comes first. */
  async waitingIn(lane: Lane, tenant: string | undefined, most: number): Promise<JobView[]> {
    const rows = await rowsOf(
      this.#pool,
      jobRow,
      `SELECT ${COLUMNS} FROM platen.jobs
       WHERE lane = $1 AND status = 'queued' AND ($2::text IS NULL OR tenant_id = $2) ORDER BY seq DESC LIMIT $3`,
      [lane, tenant ?? null, most],
    );
    return rows.map(jobViewOf);
  }

  /** How many jobs are in each state, counted up to `MOST_COUNTED`. */
  async counts(filter: JobCountFilter): Promise<JobCounts> {
    const where = await this.#conditions(filter, { newest: false });
    // Each state by name: of one that is a value, PostgreSQL does not know that it is rare, and reads a million others.
    const counted = JOB_STATUSES.map(
      (status) => `(SELECT count(*) FROM (
          SELECT FROM platen.jobs j WHERE ${where.text} AND j.status = '${status}' LIMIT ${MOST_COUNTED}) AS counted)
        AS ${status}`,
    );
    const sums = JOB_STATUSES.map(
      (status) => `least(coalesce(sum(${status}), 0), ${MOST_COUNTED})::integer AS ${status}`,
    );
    const sql = `SELECT ${sums.join(', ')} FROM (SELECT ${counted.join(', ')} FROM platen.tenants t
      ${this.#ofTenant(where, filter.tenant)}) AS found`;
    return await onlyRow(this.#pool, jobCounts, sql, where.values);
  }

  #ofTenant(where: Conditions, tenant: string | undefined): string {
    return tenant === undefined ? '' : `WHERE t.id = ${where.value(tenant)}`;
  }

  async #conditions(filter: JobCountFilter, wanted: { newest: boolean }): Promise<Conditions> {
    const { id, tenant, printer, template, account, since, until } = filter;
    const where = new Conditions(wanted);
    if (id !== undefined) {
      const [first, last] = ['0', 'f'].map(filledWith(id));
      where.add('j.id >= ?', first).add('j.id <= ?', last);
    }
    if (printer !== undefined)
      where.addOneOf('printer_id', await this.#named(PRINTERS_NAMED, printer, tenant));
    if (template !== undefined)
      where.addOneOf('template_id', await this.#named(TEMPLATES_NAMED, template, tenant));
    if (account !== undefined) where.add('j.account = ?', storable(account));
    if (since !== undefined) where.add('j.created_at >= ?', since);
    if (until !== undefined) where.add('j.created_at < ?', until);
    return where;
  }

  /** IDs that a name, or the beginning of an ID, stands for now or stood for when a job was accepted. */
  async #named(sql: string, name: string, tenant: string | undefined): Promise<string[]> {
    const found = await rowsOf(this.#pool, z.object({ id: z.string() }), `${sql} LIMIT ${MOST_NAMED}`, [
      storable(name),
      tenant ?? null,
    ]);
    return found.map(({ id }) => id);
  }
}

/** PostgreSQL refuses a text with a NUL: nothing has such a name, and nothing is found by what takes its place. */
function storable(text: string): string {
  return text.includes('\0') ? '\u{10ffff}' : text;
}

/** The first or the last UUID that begins so. */
function filledWith(begun: string): (digit: string) => string {
  const digits = begun.replaceAll('-', '');
  return (digit) => digits.slice(0, 32).padEnd(32, digit);
}
