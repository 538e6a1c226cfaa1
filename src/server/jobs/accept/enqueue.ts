/**
 * Accepts a job. One transaction takes the idempotency key, writes the job and takes the quota; once it has
 * committed the job is accepted, whatever becomes of this process, and the answer goes out. Adding it to the queue
 * is the dispatcher's work.
 */
import { v7 as uuid } from 'uuid';
import type { ValidationResult } from '../../../contract/admin.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { ProblemError } from '../../problems.ts';
import { type Pool, type Queryable, sqlState, transaction } from '../../store/pool.ts';
import { inStretches } from '../../stretches.ts';
import { checkQuota, takeQuota } from '../../tenants/tenants.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { fingerprint } from './canonical-json.ts';
import { type JobAnswer, previousAnswer, takeKey } from './idempotency.ts';
import type { CheckedRequest, RequestCheck } from './request-check.ts';
import { warningsFor } from './warnings.ts';

export type Accepted = { answer: JobAnswer; jobId: string; replayed: boolean };
type Submission = {
  tenantId: string;
  /** Who asks: an API key, or `admin`. */
  account: string;
  /** Undefined: each request is an event of its own. */
  key: string | undefined;
  body: unknown;
};

/** SQLSTATE of a statement that waited too long for a lock. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Thrown inside the transaction to roll it back: another request has the key. */
class KeyTaken extends Error {}

export class Jobs {
  readonly #pool: Pool;
  readonly #check: RequestCheck;
  readonly #dispatcher: Dispatcher;
  readonly #checks: CheckPool;

  constructor(pool: Pool, check: RequestCheck, dispatcher: Dispatcher, checks: CheckPool) {
    this.#pool = pool;
    this.#checks = checks;
    this.#check = check;
    this.#dispatcher = dispatcher;
  }

  /** The checks of `enqueue` without its effects. @throws ProblemError as `enqueue` would */
  async validate(tenantId: string, body: unknown): Promise<ValidationResult> {
    const checked = await this.#check.references(tenantId, await this.#check.payload(body));
    await checkQuota(this.#pool, tenantId, checked.labels);
    const { printer, agentId, format } = checked.route;
    return {
      valid: true,
      labels: checked.labels,
      route: {
        printerId: printer.id,
        printer: printer.name,
        agentId,
        format: { id: format.id, name: format.name },
      },
      ...(await warningsFor(this.#checks, tenantId, checked.template, checked.request, format)),
    };
  }

  /** @throws ProblemError; whatever is not about the request is `enqueue-failed`, and safe to send again */
  async enqueue(submission: Submission): Promise<Accepted> {
    try {
      return await this.#accept(submission);
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      const detail =
        sqlState(error) === LOCK_NOT_AVAILABLE
          ? 'another request with this Idempotency-Key, or of this tenant, takes too long; send it again'
          : 'the job was not queued; send it again with the same Idempotency-Key';
      throw new ProblemError('enqueue-failed', detail, { cause: error });
    }
  }

  async #accept(submission: Submission): Promise<Accepted> {
    const { tenantId, key } = submission;
    const parsed = await this.#check.payload(submission.body);
    const bodyHash = await inStretches(fingerprint(submission.body), parsed.request.data?.length ?? 1);
    if (key !== undefined) {
      // An identical retry gets its answer even if the template or the printer has gone since.
      const before = await previousAnswer(this.#pool, tenantId, key, bodyHash);
      if (before !== undefined) return { ...before, replayed: true };
    }
    const checked = await this.#check.references(tenantId, parsed);
    const jobId = uuid();
    const answer: JobAnswer = checked.request.data === undefined ? jobId : [jobId];
    const job = queuedJob(jobId, tenantId, checked);
    try {
      await transaction(this.#pool, async (client) => {
        if (key !== undefined && !(await takeKey(client, tenantId, { key, bodyHash, jobId, answer }))) {
          throw new KeyTaken();
        }
        await insertJob(client, submission.account, job, checked);
        await takeQuota(client, tenantId, checked.labels);
      });
    } catch (error) {
      if (!(error instanceof KeyTaken) || key === undefined) throw error;
      const first = await previousAnswer(this.#pool, tenantId, key, bodyHash);
      if (first === undefined) throw error;
      return { ...first, replayed: true };
    }
    this.#dispatcher.accept(job);
    return { answer, jobId, replayed: false };
  }
}

function queuedJob(jobId: string, tenantId: string, checked: CheckedRequest): QueuedJob {
  return {
    v: 1,
    jobId,
    tenantId,
    scope: checked.route.printer.scope,
    printerId: checked.route.printer.id,
    templateId: checked.request.idT,
    template: checked.template,
    format: checked.route.format,
    orientation: checked.request.orientation,
    copies: checked.request.numberCopies,
    records: checked.request.data ?? [{}],
    createdAt: new Date().toISOString(),
    ...(checked.printerCommands && checked.template.language === 'zpl' && { printerCommands: true as const }),
  };
}

async function insertJob(
  client: Queryable,
  account: string,
  job: QueuedJob,
  checked: CheckedRequest,
): Promise<void> {
  await client.query(
    `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name,
       requested_printer, format, orientation, copies, records, payload, created_at, scope)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      job.jobId,
      job.tenantId,
      account,
      job.templateId,
      job.template.name,
      job.printerId,
      checked.route.printer.name,
      checked.request.printer?.replaceAll('\0', '') ?? null,
      job.format.name,
      job.orientation,
      job.copies,
      job.records.length,
      JSON.stringify(job),
      job.createdAt,
      job.scope,
    ],
  );
}
