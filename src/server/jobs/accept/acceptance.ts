/**
 * Has the database accept jobs. A tenant's jobs that come while a statement is under way share the next statement, and so one
 * round trip and one commit; tests share statements only with tests. Each job is accepted or refused by itself (see the SQL of
 * `platen.accept_jobs`).
 *
 * The statement also checks again what was looked up before and may have changed: whether the service account
 * was revoked, and whether template and printer are still what they were.
 */
import { z } from 'zod';
import { KEY_HOURS } from '../../../contract/limits.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import { templateHash } from '../../../contract/template-hash.ts';
import {
  type Also,
  FOREIGN_KEY_VIOLATION,
  onlyRow,
  type Pool,
  type Queryable,
  sqlState,
  transaction,
} from '../../store/pool.ts';
import { JobTemplates, storeTemplate } from '../../templates/job-templates.ts';
import { type Whose, whoseOf } from '../../tenants/whose.ts';
import type { Backlog } from './backlog.ts';
import type { JobAnswer } from './idempotency.ts';
import { jobAnswer } from './idempotency.ts';
import { firstValue, searchableValues } from './job-values.ts';
import type { CheckedRequest } from './request-check.ts';

export type Candidate = {
  job: QueuedJob;
  checked: CheckedRequest;
  /** Who asks: an API key, a person's login, or `admin`. */
  account: string;
  /** The account is a service account of our own, which may have been revoked. */
  ownAccount: boolean;
  /** Undefined: each request makes a job of its own. */
  key: { name: string; bodyHash: Buffer } | undefined;
  answer: JobAnswer;
};

const count = z.coerce.number();
const outcome = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('accepted') }),
  /** The key had been used for the same request. */
  z.object({ outcome: z.literal('replayed'), jobId: z.string(), answer: jobAnswer }),
  z.object({ outcome: z.literal('reused') }),
  z.object({ outcome: z.literal('quota'), labels: count, used: count }),
  /** What was looked up has changed since, or the key was deleted at this moment. */
  z.object({ outcome: z.literal('stale') }),
  z.object({ outcome: z.literal('revoked') }),
  z.object({ outcome: z.literal('tenant-gone') }),
]);
export type Verdict = z.infer<typeof outcome>;
const answered = z.object({ outcomes: z.array(outcome) });

/** Statements of one tenant under way: while one waits for a lock, the other goes on. */
const STATEMENTS = 2;
/** ms after which a statement seems to wait for a lock, so that a second one may start beside it. */
const WAITS_MS = 20;
/** Jobs in one statement, and characters of their payloads, so that a large job does not delay small ones. */
const MOST = 32;
const MOST_CHARACTERS = 1_000_000;

type Waiting = {
  candidate: Candidate;
  payload: string;
  settle: { resolve: (outcome: Verdict) => void; reject: (error: unknown) => void };
};
type OfTenant = Whose & { waiting: Waiting[]; running: number; late: boolean };

export class Acceptance {
  readonly #pool: Pool;
  readonly #inLanes: boolean;
  readonly #backlog: Backlog;
  readonly #templates: JobTemplates;
  readonly #tenants = new Map<string, OfTenant>();

  /** @param inLanes whether the statement that accepts jobs also puts them into their lanes */
  constructor(pool: Pool, inLanes: boolean, backlog: Backlog) {
    this.#pool = pool;
    this.#inLanes = inLanes;
    this.#backlog = backlog;
    this.#templates = new JobTemplates(pool);
  }

  /**
   * @param also called with the job's ID in the transaction that accepts it, which no other job shares then
   * @throws ProblemError `too-many-waiting`; when the database fails: then only the job's key tells whether
   *   the job was accepted
   */
  async accept(candidate: Candidate, also?: Also<string>): Promise<Verdict> {
    const payload = payloadOf(candidate.job);
    const waits = { ...candidate.job, test: candidate.checked.test };
    return await this.#backlog.admit(waits, payload.length, () =>
      also === undefined ? this.#withOthers(candidate, payload) : this.#alone(candidate, also),
    );
  }

  async #alone(candidate: Candidate, also: Also<string>): Promise<Verdict> {
    return await transaction(this.#pool, async (client) => {
      const accepted = await acceptIn(client, this.#inLanes, candidate);
      if (accepted.outcome === 'accepted') await also(client, candidate.job.jobId);
      return accepted;
    });
  }

  async #withOthers(candidate: Candidate, payload: string): Promise<Verdict> {
    const { tenantId } = candidate.job;
    const { test } = candidate.checked;
    const whose = whoseOf({ tenantId, test });
    const tenant = this.#tenants.get(whose) ?? { tenantId, test, waiting: [], running: 0, late: false };
    this.#tenants.set(whose, tenant);
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    tenant.waiting.push({ candidate, payload, settle: { resolve, reject } });
    this.#next(tenant);
    return await promise;
  }

  #next(tenant: OfTenant): void {
    if (tenant.waiting.length === 0 && tenant.running === 0) this.#tenants.delete(whoseOf(tenant));
    if (tenant.waiting.length === 0 || tenant.running >= STATEMENTS) return;
    if (tenant.running > 0 && !tenant.late) return;
    tenant.running += 1;
    tenant.late = false;
    const late = setTimeout(() => {
      tenant.late = true;
      this.#next(tenant);
    }, WAITS_MS);
    void this.#together(tenant, batchOf(tenant.waiting)).finally(() => {
      clearTimeout(late);
      tenant.running -= 1;
      this.#next(tenant);
    });
  }

  /** Never rejects. @param again the second attempt, after a template was found to be missing */
  async #together(of: Whose, batch: readonly Waiting[], again = false): Promise<void> {
    try {
      for (const { candidate } of batch) await this.#templates.store(candidate.job);
      const outcomes = await this.#ask(of, batch);
      for (const [at, { settle, candidate }] of batch.entries()) {
        const found = outcomes[at];
        if (found === undefined) settle.reject(new Error('the database left out a job'));
        // The statement ran a second time, and found the idempotency key that this same job had taken.
        else if (found.outcome === 'replayed' && found.jobId === candidate.job.jobId) {
          settle.resolve({ outcome: 'accepted' });
        } else settle.resolve(found);
      }
    } catch (error) {
      // A job's template is not stored.
      if (sqlState(error) === FOREIGN_KEY_VIOLATION && !again) {
        for (const { candidate } of batch) this.#templates.forget(candidate.job);
        return await this.#together(of, batch, true);
      }
      const [first, ...others] = batch;
      if (others.length === 0 || sqlState(error) === undefined) {
        for (const { settle } of batch) settle.reject(error);
        return;
      }
      // One job made the statement fail, and the whole statement was undone. So each job is tried by itself.
      await Promise.all([first, ...others].flatMap((one) => (one ? this.#together(of, [one]) : [])));
    }
  }

  async #ask(of: Whose, batch: readonly Waiting[]): Promise<Verdict[]> {
    return await ask(
      this.#pool,
      of,
      this.#inLanes,
      batch.map(({ candidate, payload }, index) => ({ row: rowOf(index + 1, candidate), payload })),
    );
  }
}

/**
 * Accepts one job in the caller's transaction, as created now, even if its labels print an earlier time.
 * @throws when the database fails
 */
export async function acceptIn(client: Queryable, inLanes: boolean, candidate: Candidate): Promise<Verdict> {
  const { job } = candidate;
  const row = { ...rowOf(1, candidate), createdAt: new Date().toISOString() };
  await storeTemplate(client, job);
  const [found] = await ask(client, { tenantId: job.tenantId, test: candidate.checked.test }, inLanes, [
    { row, payload: payloadOf(job) },
  ]);
  if (found === undefined) throw new Error('the database left out a job');
  return found;
}

/** The payload as it is stored: without the template, which is stored once for all jobs that print it. */
export function payloadOf({ template: _, ...job }: QueuedJob): string {
  return JSON.stringify(job);
}

async function ask(
  db: Queryable,
  { tenantId, test }: Whose,
  inLanes: boolean,
  batch: readonly { row: object; payload: string }[],
): Promise<Verdict[]> {
  const payloads = batch.map((_, index) => `$${index + 5}`).join(', ');
  const { outcomes } = await onlyRow(
    db,
    answered,
    `SELECT platen.accept_jobs($1, $2, ARRAY[${payloads}]::text[], make_interval(hours => ${KEY_HOURS}), $3, $4) AS outcomes`,
    [
      ...[tenantId, JSON.stringify(batch.map(({ row }) => row)), inLanes, test],
      ...batch.map(({ payload }) => payload),
    ],
  );
  return outcomes;
}

/** Takes the jobs of the next statement, no two with the same key: the second job needs to know what became of the first. */
function batchOf(waiting: Waiting[]): Waiting[] {
  const keys = new Set<string>();
  let characters = 0;
  const end = waiting.findIndex(({ candidate: { key }, payload }, index) => {
    characters += payload.length;
    const fits = index < MOST && (index === 0 || characters <= MOST_CHARACTERS);
    if (!fits || (key !== undefined && keys.has(key.name))) return true;
    if (key !== undefined) keys.add(key.name);
    return false;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/** The job in the form that `platen.accept_jobs` reads. */
function rowOf(n: number, { job, checked, account, ownAccount, key, answer }: Candidate): object {
  const { request, route, stamps } = checked;
  return {
    n,
    id: job.jobId,
    account: account.toWellFormed(),
    ...(ownAccount && { apiKey: account }),
    ...(key !== undefined && { key: key.name, bodyHash: key.bodyHash.toString('hex') }),
    answer,
    labels: checked.labels,
    printerCommands: checked.printerCommands,
    template: job.templateId,
    templateHash: templateHash(job.template),
    ...(stamps !== undefined && {
      templateStamp: stamps.template,
      mediaMustFit: checked.mediaMustFit,
      printerId: stamps.asked.id,
      printerName: stamps.asked.name,
      routeStamp: stamps.route,
    }),
    templateName: job.template.name,
    printer: job.printerId,
    calledPrinter: route.printer.name,
    askedPrinter: request.printer?.replaceAll('\0', '').toWellFormed() ?? null,
    format: job.format.name,
    orientation: job.orientation,
    copies: job.copies,
    records: job.records.length,
    firstValue: firstValue(job),
    values: searchableValues(job),
    createdAt: job.createdAt,
    scope: job.scope,
  };
}
