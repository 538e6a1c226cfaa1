/**
 * The list of jobs, page by page, the newest first, and how many there are in each state. An index answers
 * every query, however much a tenant has printed before; jobs of one state are counted up to a limit.
 *
 * A page ends with a key, the time and ID of its last job, and the next page begins behind it: nothing is
 * skipped or shown twice when jobs arrive meanwhile. Pages of its tenants make a page of a whole deployment.
 */
import { z } from 'zod';
import type { JobView } from '../../../contract/job.ts';
import { jobId } from '../../../contract/job-id.ts';
import { JOB_STATUSES, type JobStatus } from '../../../contract/job-life.ts';
import {
  type JobCountFilter,
  type JobCounts,
  type JobFilter,
  type JobPage,
  jobCounts,
  MOST_COUNTED,
  type valueMark,
} from '../../../contract/job-search.ts';
import type { Lane } from '../../../contract/lane.ts';
import { REPORTED } from '../../printers/printers.ts';
import { onlyRow, type Pool, rowsOf } from '../../store/pool.ts';
import { searchableValue } from '../searchable-value.ts';
import { COLUMNS, jobRow, jobViewOf } from './job-row.ts';

/** Printers or templates that a name may stand for. */
const MOST_NAMED = 100;

/** Finds printers or templates by their names when jobs were accepted; they may be gone or renamed since. */
const ONCE_NAMED = (kind: 'printer' | 'template') => `SELECT id FROM platen.job_names
    WHERE kind = '${kind}' AND (name = $1 OR starts_with(id, $1)) AND ($2::text IS NULL OR tenant_id = $2)`;
const PRINTERS_NAMED = `SELECT p.printer_id AS id FROM ${REPORTED}
    WHERE (p.name = $1 OR starts_with(p.printer_id, $1)) AND platen.may_use($2, a.tenant_id, s.granted_to)
  UNION SELECT regexp_replace(lane, '^.*/', '') FROM platen.lane_settings
    WHERE display_name = $1 AND platen.may_use($2, substring(lane FROM '^([^/]*)/'), granted_to)
  UNION ${ONCE_NAMED('printer')}`;
const TEMPLATES_NAMED = `SELECT id FROM platen.templates
    WHERE (name = $1 OR starts_with(id, $1)) AND ($2::text IS NULL OR tenant_id = $2)
  UNION ${ONCE_NAMED('template')}`;

/** Digits of an ID that few jobs share: those of 17 minutes. */
const TELLS_ONE = 7;
/**
 * s by which the service's clock, from which IDs are made, may differ from the database's clock when a search has fewer digits.
 */
const CLOCKS_APART = 86_400;

const WAITING: readonly JobStatus[] = ['queued', 'printing', 'held'];

/** As the index `jobs_undecided` has it. */
export const UNDECIDED = `(j.status = 'held' OR (j.status = 'canceled' AND j.uncertain_to > j.uncertain_from))`;

/** Sorts as the time does, to the microsecond. */
const KEY_TIME = `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const listedRow = jobRow.extend({ key_time: z.string(), first_value: z.string().nullable() });

/** Conditions on `platen.jobs AS j` of the tenant `t`, and their values. */
class Conditions {
  readonly values: unknown[] = [];
  readonly sql: string[] = ['j.tenant_id = t.id'];
  /** The tenants, and maybe IDs of `addOneOf`: jobs are looked up for each of them, along an index. */
  from = 'platen.tenants t';
  /** Where the jobs come from, and the time and ID by which they are sorted there. */
  jobs = 'platen.jobs j';
  key: readonly [string, string] = ['j.created_at', 'j.id'];
  readonly #newest: boolean;

  /** @param newest whether the newest jobs are wanted; otherwise jobs are counted */
  constructor({ newest }: { newest: boolean }) {
    this.#newest = newest;
  }

  /** @param sql with `?` for the value */
  add(sql: string, value: unknown): this {
    this.sql.push(sql.replaceAll('?', this.value(value)));
    return this;
  }

  /** Adds a value. @returns its placeholder */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /**
   * The column has one of these IDs. An index gives the newest jobs of one ID at once; those of several IDs
   * together would be searched for among all jobs, so each ID is looked up by itself.
   */
  addOneOf(column: 'printer_id' | 'template_id', ids: readonly string[]): void {
    if (ids.length === 0) this.sql.push('false');
    else if (ids.length === 1) this.add(`j.${column} = ?`, ids[0]);
    else if (!this.#newest || this.from.includes('unnest')) this.add(`j.${column} = ANY(?)`, ids);
    else {
      this.from += ` CROSS JOIN unnest(${this.value(ids)}::text[]) AS one (id)`;
      this.sql.push(`j.${column} = one.id`);
    }
  }

  /**
   * Only jobs with a value that has this mark: an index has them by their time.
   * @param few whether the other conditions leave few jobs: then each of them is looked up in that index, since a value may be
   *   on every label. LIMIT keeps PostgreSQL from making it a join that begins with the value
   */
  addMark(mark: string, few: boolean): void {
    const marked = `v.tenant_id = t.id AND v.mark = ('x' || ${this.value(mark)})::bit(64)::bigint`;
    if (few) {
      this.jobs = `platen.jobs j CROSS JOIN LATERAL (SELECT FROM platen.job_values v
        WHERE ${marked} AND v.created_at = j.created_at AND v.job_id = j.id LIMIT 1) AS marked`;
      return;
    }
    this.jobs = 'platen.job_values v JOIN platen.jobs j ON j.id = v.job_id';
    this.key = ['v.created_at', 'v.job_id'];
    this.sql.push(marked);
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

  /**
   * @param filter without a tenant: jobs of all tenants
   * @param values whether the caller may see what is on labels
   */
  async page(filter: JobFilter, values = false): Promise<JobPage> {
    const where = await this.#conditions(filter, { newest: true, few: isOfFew(filter) });
    if (filter.status !== undefined) {
      // A single state is compared with `=`, which an index answers; `ANY` searches the jobs of all states.
      where.add(
        filter.status.length === 1 ? 'j.status = (?::text[])[1]' : 'j.status = ANY(?)',
        filter.status,
      );
    }
    if (filter.undecided !== undefined) where.sql.push(UNDECIDED);
    if (filter.after !== undefined) {
      const [time, id] = filter.after.split('_');
      where.sql.push(
        `(${where.key.join(', ')}) < (${where.value(time)}::timestamptz, ${where.value(id)}::uuid)`,
      );
    }
    const limit = where.value(filter.limit + 1);
    const rows = await rowsOf(
      this.#pool,
      listedRow,
      `SELECT ${COLUMNS}, first_value, ${KEY_TIME} AS key_time FROM platen.jobs
       WHERE id IN (SELECT found.id FROM ${where.from} CROSS JOIN LATERAL (
         SELECT j.id, j.created_at FROM ${where.jobs} WHERE ${where.text}
         ORDER BY ${where.key.map((column) => `${column} DESC`).join(', ')} LIMIT ${limit}) AS found
         ${this.#ofTenant(where, filter.tenant)} ORDER BY found.created_at DESC, found.id DESC LIMIT ${limit})
       ORDER BY created_at DESC, id DESC`,
      where.values,
    );
    const shown = rows.slice(0, filter.limit);
    const last = shown.at(-1);
    return {
      jobs: shown.map((row) => ({ ...jobViewOf(row), ...(values && { value: row.first_value }) })),
      next: rows.length > filter.limit && last !== undefined ? `${last.key_time}_${last.id}` : null,
    };
  }

  /** The jobs with these IDs that belong to the tenant, or (undefined) to any; the oldest first. */
  async byIds(ids: readonly string[], tenant: string | undefined): Promise<JobView[]> {
    const rows = await rowsOf(
      this.#pool,
      jobRow,
      `SELECT ${COLUMNS} FROM platen.jobs WHERE id = ANY($1) AND ($2::text IS NULL OR tenant_id = $2) ORDER BY seq`,
      [ids.filter((id) => jobId.safeParse(id).success), tenant ?? null],
    );
    return rows.map(jobViewOf);
  }

  /**
   * A tenant's waiting jobs in a lane, or (undefined) all; the job that would print last comes first.
   * @param printing also the job in progress
   */
  async waitingIn(
    lane: Lane,
    tenant: string | undefined,
    { printing, most }: { printing: boolean; most: number },
  ): Promise<JobView[]> {
    const rows = await rowsOf(
      this.#pool,
      jobRow,
      `SELECT ${COLUMNS} FROM platen.jobs
       WHERE lane = $1 AND (status = 'queued' OR (status = 'printing' AND $4)) AND ($2::text IS NULL OR tenant_id = $2) ORDER BY seq DESC LIMIT $3`,
      [lane, tenant ?? null, most, printing],
    );
    return rows.map(jobViewOf);
  }

  /** How many jobs are in each state, counted up to `MOST_COUNTED`. */
  async counts(filter: JobCountFilter): Promise<JobCounts> {
    const where = await this.#conditions(filter, { newest: false, few: false });
    // Each state stands in the SQL itself. If it were a parameter, PostgreSQL would not know that the state is rare, and would
    // read a million other jobs.
    const asked = [
      ...JOB_STATUSES.map((status) => [status, `j.status = '${status}'`]),
      ['undecided', UNDECIDED],
    ];
    const counted = asked.map(
      ([name, fits]) => `(SELECT count(*) FROM (
          SELECT FROM ${where.jobs} WHERE ${where.text} AND ${fits} LIMIT ${MOST_COUNTED}) AS counted) AS ${name}`,
    );
    const sums = asked.map(
      ([name]) => `least(coalesce(sum(${name}), 0), ${MOST_COUNTED})::integer AS ${name}`,
    );
    const sql = `SELECT ${sums.join(', ')} FROM (SELECT ${counted.join(', ')} FROM platen.tenants t
      ${this.#ofTenant(where, filter.tenant)}) AS found`;
    return await onlyRow(this.#pool, jobCounts, sql, where.values);
  }

  #ofTenant(where: Conditions, tenant: string | undefined): string {
    return tenant === undefined ? '' : `WHERE t.id = ${where.value(tenant)}`;
  }

  async #conditions(filter: JobCountFilter, wanted: { newest: boolean; few: boolean }): Promise<Conditions> {
    const { id, tenant, printer, template, value, account, test, since, until } = filter;
    const where = new Conditions(wanted);
    if (id !== undefined) {
      const [first = '', last = ''] = ['0', 'f'].map(filledWith(id));
      where.add('j.id >= ?', first).add('j.id <= ?', last);
      // The index is by time only. Without this condition PostgreSQL goes through all newer jobs.
      if (id.length < TELLS_ONE)
        where
          .add('j.created_at >= to_timestamp(?)', secondsOf(first) - CLOCKS_APART)
          .add('j.created_at < to_timestamp(?)', secondsOf(last) + CLOCKS_APART);
    }
    if (printer !== undefined)
      where.addOneOf('printer_id', await this.#named(PRINTERS_NAMED, printer, tenant));
    if (template !== undefined)
      where.addOneOf('template_id', await this.#named(TEMPLATES_NAMED, template, tenant));
    if (value !== undefined) where.addMark(value, wanted.few);
    if (test !== undefined) where.sql.push(test ? 'j.test' : 'NOT j.test');
    if (account !== undefined) where.add('j.account = ?', storable(account));
    if (since !== undefined) where.add('j.created_at >= ?', since);
    if (until !== undefined) where.add('j.created_at < ?', until);
    return where;
  }

  /** What stands for a value of this tenant's records in a filter. */
  async markOf(tenant: string, value: string): Promise<z.infer<typeof valueMark>> {
    const text = searchableValue(value);
    if (text === undefined) return { mark: null };
    const sql = `SELECT to_hex(platen.value_mark(search_key, $2)) AS mark FROM platen.tenants WHERE id = $1`;
    const { mark } = await onlyRow(this.#pool, z.object({ mark: z.string() }), sql, [tenant, text]);
    return { mark: mark.padStart(16, '0') };
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

/** The time with which an ID begins (RFC 9562, UUIDv7), s since 1970. */
function secondsOf(id: string): number {
  return Number.parseInt(id.slice(0, 12), 16) / 1_000;
}

/** Whether all wanted jobs wait for a person or a printer. Such jobs are few, and have indexes of their own. */
function isOfFew({ status, undecided }: JobFilter): boolean {
  return undecided !== undefined || (status?.length === 1 && status.every((one) => WAITING.includes(one)));
}

/** PostgreSQL refuses a text with a NUL. Nothing has such a name: a text that finds nothing replaces it. */
function storable(text: string): string {
  return text.includes('\0') ? '\u{10ffff}' : text;
}

/** For `0` the first and for `f` the last UUID that begins with these digits. */
function filledWith(begun: string): (digit: string) => string {
  const digits = begun.replaceAll('-', '');
  return (digit) => digits.slice(0, 32).padEnd(32, digit);
}
