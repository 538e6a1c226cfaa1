/** Pictures of a job's labels, as long as its data is kept: drawn from what was printed, never kept themselves. */
import { documentIn, documentPart, documentText } from '../../../contract/document-pages.ts';
import type { LabelRecord } from '../../../contract/print-request.ts';
import { because } from '../../../contract/reason.ts';
import { documentField, type Template } from '../../../contract/template.ts';
import type { CheckPool } from '../../../rendering/check-pool.ts';
import type { PictureCheck } from '../../../rendering/check-protocol.ts';
import { refusedBecause } from '../../problems.ts';
import type { Pool } from '../../store/pool.ts';
import { drawn } from '../../templates/drawn-label.ts';
import { type LabelData, labelDataOf } from './label-data.ts';

/**
 * The dots of a label as the printer gets them, as a PNG.
 * @param label from 0
 * @param width pixels of a smaller picture
 * @throws ProblemError `job-not-found`, `label-not-found`, `label-data-gone`, `label-undrawable`, `not-ready`
 */
export async function jobLabelPicture(
  { pool, checks }: { pool: Pool; checks: CheckPool },
  id: string,
  label: number,
  width?: number,
): Promise<Uint8Array> {
  // Which record a label belongs to depends on the job's number of copies.
  const { job: head } = await labelDataOf(pool, id, { from: 0, limit: 0 });
  const index = Math.floor(label / head.copies);
  const { job, total, records } = await labelDataOf(pool, id, { from: index, limit: 1 });
  const [record] = records;
  if (record === undefined) {
    const labels = total * job.copies;
    throw refusedBecause('label-not-found', because('label-number', { last: labels - 1, label }));
  }
  const { png } = await drawn(checks, job.tenantId, {
    template: job.template,
    dpi: job.format.dpi,
    media: { width: job.format.width, height: job.format.height },
    orientation: job.orientation,
    job: factsOf(job, total),
    record: await withFile({ pool, id }, record, job.template),
    index,
    copy: label - index * job.copies,
    width,
    preview: false,
  });
  if (png === null) throw new Error('a picture without dots');
  return png;
}

/** A page's record may name the record that holds its file. */
async function withFile(
  { pool, id }: { pool: Pool; id: string },
  record: LabelRecord,
  template: Template,
): Promise<LabelRecord> {
  const { page, record: holder } = documentPart(documentIn(record, template));
  if (page === undefined || holder === undefined) return record;
  const { records } = await labelDataOf(pool, id, { from: holder, limit: 1 });
  const { base64 } = documentPart(documentIn(records[0] ?? {}, template));
  return { ...record, [documentField(template) ?? '']: documentText(base64, page) };
}

function factsOf(job: LabelData['job'], records: number): PictureCheck['job'] {
  const { jobId, createdAt, copies, printerCommands, again } = job;
  return {
    ...{ jobId, createdAt, copies, records: { length: records } },
    ...(printerCommands && { printerCommands }),
    ...(again && { again }),
  };
}
