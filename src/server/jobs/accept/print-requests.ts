/**
 * Accepts a job. One statement takes the idempotency key, writes the job and takes the quota; once it has
 * committed the job is accepted, whatever becomes of this process, and the answer goes out. If the lanes are
 * in PostgreSQL, the job is in its lane with that commit; to a lane that is elsewhere the dispatcher adds it.
 *
 * Template and printer of a request may have been looked up for an earlier one. They are looked up anew if
 * the statement answers `stale` (they have changed since), and before a request is refused because of them.
 */
import { v7 as uuid } from 'uuid';
import type { ValidationResult } from '../../../contract/admin.ts';
import type { QueuedJob } from '../../../contract/queued-job.ts';
import type { Template } from '../../../contract/template.ts';
import { bringsProgram } from '../../../render/document/document-file.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import { revoked } from '../../oauth/callers.ts';
import { ProblemError } from '../../problems.ts';
import { type Also, type Pool, sqlState } from '../../store/pool.ts';
import { inStretches } from '../../stretches.ts';
import { checkQuota, quotaExceeded } from '../../tenants/tenants.ts';
import type { Dispatching } from '../dispatch/dispatching.ts';
import type { Acceptance, Verdict } from './acceptance.ts';
import { fingerprint } from './canonical-json.ts';
import { type JobAnswer, keyReused, previousAnswer } from './idempotency.ts';
import type { CheckedRequest, RequestCheck } from './request-check.ts';
import { COUNTED, LISTED, type WarningCounts, warningsFor } from './warnings.ts';

/** `warnings` of a new job only: a replay is not looked at again. */
export type Accepted = { answer: JobAnswer; jobId: string } & (
  | { replayed: false; warnings: WarningCounts }
  | { replayed: true }
);
type Submission = {
  tenantId: string;
  /** Who asks: an API key, a person's login, or `admin`. */
  account: string;
  /** The account is a service account of our own. */
  ownAccount: boolean;
  /** It is a test: it may go to a virtual printer only. */
  test: boolean;
  /** Undefined: each request makes a job of its own. */
  key: string | undefined;
  body: unknown;
  /** Printed instead of a saved one; the request's `idT` is a name only. */
  template?: Template;
  /** Called with the ID of a new job, in the transaction that accepts it. */
  also?: Also<string>;
};

/** SQLSTATE of a statement that waited too long for a lock. */
const LOCK_NOT_AVAILABLE = '55P03';

export class PrintRequests {
  readonly #pool: Pool;
  readonly #check: RequestCheck;
  readonly #dispatcher: Pick<Dispatching, 'accept'>;
  readonly #checks: CheckPool;
  readonly #acceptance: Acceptance;
  readonly #accepted: (job: QueuedJob) => void;

  constructor(parts: {
    pool: Pool;
    check: RequestCheck;
    dispatcher: Pick<Dispatching, 'accept'>;
    checks: CheckPool;
    acceptance: Acceptance;
    /** Called with each new job. */
    accepted: (job: QueuedJob) => void;
  }) {
    this.#pool = parts.pool;
    this.#checks = parts.checks;
    this.#check = parts.check;
    this.#dispatcher = parts.dispatcher;
    this.#acceptance = parts.acceptance;
    this.#accepted = parts.accepted;
  }

  /** The checks of `enqueue` without its effects. @throws ProblemError as `enqueue` would */
  async validate(
    { tenantId, test }: Pick<Submission, 'tenantId' | 'test'>,
    body: unknown,
  ): Promise<ValidationResult> {
    const checked = await this.#check.references(tenantId, await this.#check.payload(body), {
      fresh: true,
      test,
    });
    await checkQuota(this.#pool, tenantId, checked.labels, test);
    const { printer, agentId, format } = checked.route;
    const { warnings, counts } = await this.#warnings(tenantId, checked, LISTED);
    return {
      valid: true,
      labels: checked.labels,
      route: {
        printerId: printer.id,
        printer: printer.name,
        agentId,
        format: { id: format.id, name: format.name },
      },
      warnings,
      warningCount: [...counts.values()].reduce((sum, count) => sum + count, 0),
    };
  }

  #warnings(
    tenantId: string,
    { template, request, route }: CheckedRequest,
    bounds: typeof LISTED,
  ): ReturnType<typeof warningsFor> {
    return warningsFor(this.#checks, tenantId, template, request, route.format, bounds);
  }

  /** @throws ProblemError; what is not the request's fault is `enqueue-failed`, and safe to send again */
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
    const { tenantId, key, test, body, template } = submission;
    const parsed = await this.#check.payload(body);
    const asked = template === undefined ? body : { body, template };
    const bodyHash = await inStretches(fingerprint(asked), parsed.request.data?.length ?? 1);
    const before = async () =>
      key === undefined ? undefined : await previousAnswer(this.#pool, tenantId, key, bodyHash);
    /** Undefined: the outcome is `stale`, and everything has to be looked up anew. */
    const attempt = async (fresh: boolean): Promise<Accepted | undefined> => {
      const jobId = uuid();
      const { account, ownAccount } = submission;
      let checked: CheckedRequest;
      let answer: JobAnswer;
      let job: QueuedJob;
      let result: Verdict;
      let warnings: WarningCounts;
      try {
        checked = await this.#check.references(tenantId, parsed, { fresh, test, template });
        // Before the job is accepted: if this failed afterwards, the caller would be told that the job is not queued.
        warnings = (await this.#warnings(tenantId, checked, COUNTED)).counts;
        answer = parsed.request.data === undefined ? jobId : [jobId];
        job = queuedJob(jobId, tenantId, checked);
        const name = key === undefined ? undefined : { name: key, bodyHash };
        result = await this.#acceptance.accept(
          { job, checked, account, ownAccount, key: name, answer },
          submission.also,
        );
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        // An identical retry gets its answer even if the template or the printer has gone since, or too much waits.
        const first = await before();
        if (first === undefined) throw error;
        return { ...first, replayed: true };
      }
      switch (result.outcome) {
        case 'accepted':
          this.#dispatcher.accept?.(job);
          this.#accepted(job);
          return { answer, jobId, replayed: false, warnings };
        case 'replayed':
          return { answer: result.answer, jobId: result.jobId, replayed: true };
        case 'stale':
          return undefined;
        case 'reused':
          throw keyReused();
        case 'quota':
          throw quotaExceeded(result, checked.labels);
        case 'revoked':
          throw revoked();
        case 'tenant-gone':
          throw new ProblemError('tenant-forbidden', `there is no tenant "${tenantId}"`);
      }
    };
    const accepted = (await attempt(false)) ?? (await attempt(true));
    if (accepted === undefined)
      throw new Error('key, template or printer of the request changed twice meanwhile');
    return accepted;
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
    ...(checked.printerCommands &&
      bringsProgram(checked.template, checked.request.data ?? [{}]) && { printerCommands: true as const }),
  };
}
