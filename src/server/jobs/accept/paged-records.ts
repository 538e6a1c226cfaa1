/** Makes a record of each page of the PDF documents that a request brings: a page is a label, as any other. */
import { chosenPages, documentIn, documentPart, pageRecords } from '../../../contract/document-pages.ts';
import type { LabelRecord } from '../../../contract/print-request.ts';
import { because, type Reason, reasonText } from '../../../contract/reason.ts';
import { documentField, type Template } from '../../../contract/template.ts';
import { isPdf } from '../../../render/document/document-file.ts';
import { type CheckPool, CheckStopped } from '../../../rendering/check-pool.ts';
import { faultAt, ProblemError, refusedBecause } from '../../problems.ts';

/** ms for one document, on a machine that is busy; reading it has a deadline of its own. */
const TIMES = { wait: 10_000, run: 60_000 };
/** ms for the documents of one request. */
const MOST = 30_000;

export interface PagedRecords {
  readonly records: LabelRecord[];
  /** For each of them the index of the request's record that it comes from. */
  readonly origins: number[];
}

/**
 * @param data undefined: a template without dynamic data
 * @returns undefined: there are no PDF documents
 * @throws ProblemError `data-unprintable`, `labels-limit`, `not-ready`
 */
export async function pagedRecords(
  checks: CheckPool,
  tenantId: string,
  template: Template,
  data: readonly LabelRecord[] = [{}],
  most: number = Number.POSITIVE_INFINITY,
): Promise<PagedRecords | undefined> {
  if (template.language !== 'document') return undefined;
  const records: LabelRecord[] = [];
  const origins: number[] = [];
  let pdfs = 0;
  const started = performance.now();
  for (const [index, record] of data.entries()) {
    const { base64, page, record: holder } = documentPart(documentIn(record, template));
    const refuse = (reason: Reason) => {
      const pointer = `/data/${index}/${documentField(template)}`;
      throw new ProblemError('data-unprintable', `record ${index + 1}: ${reasonText(reason)}`, {
        errors: [faultAt(pointer, reason)],
      });
    };
    if (holder !== undefined || (page !== undefined && base64 === '')) refuse(because('document-none', {}));
    let made = [record];
    if (isPdf(base64)) {
      pdfs += 1;
      const spent = performance.now() - started;
      if (spent > MOST) refuse(because('draws-long', { seconds: MOST / 1_000 }));
      const pages = page === undefined ? await countOf(checks, tenantId, base64) : page;
      if (typeof pages !== 'number') refuse(pages);
      else {
        const chosen = page === undefined ? chosenPages(template.page.pages, pages) : [page];
        const total = records.length + chosen.length;
        if (total > most) {
          const reason = because('document-labels', { pages: total, most });
          throw refusedBecause('labels-limit', reason, { errors: [faultAt(`/data/${index}`, reason)] });
        }
        made = pageRecords(record, template, chosen, records.length);
      }
    }
    for (const one of made) {
      records.push(one);
      origins.push(index);
    }
  }
  return pdfs === 0 ? undefined : { records, origins };
}

/** @throws ProblemError `not-ready` */
async function countOf(checks: CheckPool, tenantId: string, base64: string): Promise<number | Reason> {
  try {
    return await checks.pages(tenantId, base64, TIMES);
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    if (error.reason === 'memory') return because('draws-much', {});
    if (error.reason === 'deadline') return because('draws-long', { seconds: TIMES.run / 1_000 });
    throw new ProblemError('not-ready', 'other documents are being read: ask again', { cause: error });
  }
}
