/**
 * Prints labels of a finished job once more. A new job, which names the old one, has the same labels with the old numbers and
 * time. It takes quota like any other job, and a request that is repeated with its key makes no second.
 */

import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { recordsAt } from '../../../contract/document-pages.ts';
import { type JobReprint, jobReprint } from '../../../contract/job-actions.ts';
import { hasEnded, jobStatus, statesIn } from '../../../contract/job-life.ts';
import { type QueuedJob, queuedJob } from '../../../contract/queued-job.ts';
import { because } from '../../../contract/reason.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import type { ServerConfig } from '../../config.ts';
import { oneJob } from '../../one-job.ts';
import { faultAt, parseBody, payloadInvalid, refusedBecause } from '../../problems.ts';
import type { Also, Queryable } from '../../store/pool.ts';
import { inStretches } from '../../stretches.ts';
import { WHOLE_PAYLOAD } from '../../templates/job-templates.ts';
import { dataGone } from '../shown/label-data.ts';
import { type AloneParts, acceptAlone } from './accept-alone.ts';
import type { Candidate } from './acceptance.ts';
import { fingerprint } from './canonical-json.ts';
import { previousAnswer } from './idempotency.ts';
import { requireJobPrintable, withPermissionOfNow } from './permitted.ts';
import { requireFitIfWanted } from './required-fit.ts';
import { type AskedPrinters, askedOf, onWay, type Route, route } from './route.ts';

type Again = NonNullable<QueuedJob['again']>;

const stored = z.object({
  tenant_id: z.string(),
  status: jobStatus,
  printer_id: z.string(),
  template_id: z.string(),
  test: z.boolean(),
  payload: queuedJob.nullable(),
});

type Parts = AloneParts & {
  printers: AskedPrinters;
  checks: CheckPool;
  limits: ServerConfig['limits'];
};

export class Reprints {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @param account who asks
   * @param also called with the new job's ID, in the transaction that accepts it
   * @param key undefined: each request makes a job of its own
   * @throws ProblemError `job-not-found`, `job-not-over`, `label-data-gone`, `payload-invalid`, `labels-limit`, those of
   *   `route`, `media-mismatch`, `data-unprintable`, those of `acceptAlone`
   */
  async reprint(
    id: string,
    body: unknown,
    { account, key, also }: { account: string; key: string | undefined; also?: Also<string> },
  ): Promise<{ jobId: string; replayed: boolean }> {
    const { pool } = this.#parts;
    const request = parseBody(jobReprint, body);
    const old = await this.#over(pool, id);
    const tenantId = old.tenant_id;
    const bodyHash = await inStretches(fingerprint({ reprint: id, ...request }), request.labels?.length ?? 1);
    const before = async () =>
      key === undefined ? undefined : await previousAnswer(pool, tenantId, key, bodyHash);
    const replayed = await before();
    if (replayed !== undefined) return { jobId: replayed.jobId, replayed: true };
    const { job, way } = await this.#job(old, request);
    return await acceptAlone(
      this.#parts,
      {
        job,
        checked: checkedOf(job, way, old.test),
        account,
        key: key === undefined ? undefined : { name: key, bodyHash },
      },
      {
        // Somebody may let the old job go on at this moment. Its labels must not come out twice then.
        before: (client) => this.#over(client, id, 'FOR SHARE'),
        also: async (client, newId) => {
          await client.query('UPDATE platen.jobs SET reprint_of = $2 WHERE id = $1', [newId, id]);
          await also?.(client, newId);
        },
      },
    );
  }

  async #over(db: Queryable, id: string, lock = '') {
    const sql = `SELECT tenant_id, status, printer_id, template_id, test, ${WHOLE_PAYLOAD} FROM platen.jobs WHERE id = $1 ${lock}`;
    const old = await oneJob(db, stored, sql, id);
    if (!statesIn('over').includes(old.status)) {
      const first = hasEnded(old.status) ? 'reprint-decide' : 'reprint-wait';
      throw refusedBecause('job-not-over', because(first, { status: old.status }));
    }
    return old;
  }

  async #job(old: z.infer<typeof stored>, request: JobReprint): Promise<{ job: QueuedJob; way: Route }> {
    const { printers, checks, limits } = this.#parts;
    const { payload } = old;
    if (payload === null) throw dataGone();
    const chosen = request.labels === undefined ? undefined : labelsIn(request.labels, payload, limits);
    const { template, orientation } = payload;
    const elsewhere = request.printerId !== undefined || request.printer !== undefined;
    const wish = {
      ...(elsewhere
        ? { printerId: request.printerId, printer: request.printer }
        : { printerId: payload.printerId }),
      format: request.format ?? (elsewhere ? undefined : payload.format.id),
    };
    const wished = { ...wish, idT: old.template_id, orientation, numberCopies: 1 };
    const way = route(wished, await printers.find(old.tenant_id, askedOf(wished)), template, old.test);
    const { resume: _, again, ...asBefore } = payload;
    const pinned = chosen === undefined ? again : chosen.again;
    const job = await withPermissionOfNow(this.#parts.pool, {
      ...onWay({ ...asBefore, jobId: uuid() }, way),
      ...(chosen === undefined ? {} : { records: chosen.records, copies: 1 }),
      ...(pinned === undefined ? { v: 1 } : { v: 3, again: pinned }),
    });
    await requireFitIfWanted(this.#parts.pool, job);
    await requireJobPrintable(checks, job);
    return { job, way };
  }
}

/** The new job in the form of a checked request. */
function checkedOf(job: QueuedJob, way: Route, test: boolean): Candidate['checked'] {
  const { template, orientation, copies: numberCopies } = job;
  return {
    request: { idT: job.templateId, orientation, numberCopies },
    template,
    test,
    printerCommands: job.printerCommands ?? false,
    route: way,
    labels: job.records.length * numberCopies,
    stamps: undefined,
  };
}

/** The chosen labels as records, and their places in the first job. @throws ProblemError `payload-invalid`, `labels-limit` */
function labelsIn(
  ranges: NonNullable<JobReprint['labels']>,
  { jobId: of, template, records, copies, again }: QueuedJob,
  limits: ServerConfig['limits'],
): { records: QueuedJob['records']; again: Again } {
  const total = records.length * copies;
  const seen = new Set<number>();
  for (const [at, { from, to }] of ranges.entries()) {
    if (to <= from || to > total) {
      const between = because('labels-of-job', { last: total - 1 });
      throw payloadInvalid([faultAt(`/labels/${at}`, between, { from, to })]);
    }
    for (let label = from; label < to; label++) {
      if (seen.has(label)) {
        throw payloadInvalid([faultAt(`/labels/${at}`, because('label-twice', { label }), { from, to })]);
      }
      seen.add(label);
    }
  }
  const chosen = [...seen];
  if (chosen.length > limits.records) {
    const many = because('labels-chosen-many', { labels: chosen.length, most: limits.records });
    throw refusedBecause('labels-limit', many);
  }
  const recordOf = (label: number) => Math.floor(label / copies);
  // Each copy becomes a record with its values, and the old job may have had far more copies than fit into a job as records.
  const sizes = new Map(
    [...new Set(chosen.map(recordOf))].map((at) => [at, JSON.stringify(records[at] ?? {}).length]),
  );
  const size = chosen.reduce((sum, label) => sum + (sizes.get(recordOf(label)) ?? 0), 0);
  if (size > limits.bodyBytes) {
    throw refusedBecause('labels-limit', because('labels-chosen-large', { size, most: limits.bodyBytes }));
  }
  return {
    records: recordsAt(records, chosen.map(recordOf), template),
    again: {
      jobId: again?.jobId ?? of,
      records: again?.records ?? records.length,
      copies: again?.copies ?? copies,
      labels: chosen.map((label) => again?.labels[recordOf(label)] ?? [recordOf(label), label % copies]),
    },
  };
}
