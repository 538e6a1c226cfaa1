/**
 * Makes a record of each page of a request's documents, and of each label of a program. Each record is a label like any other.
 */
import {
  chosenPages,
  documentIn,
  documentPart,
  documentSaid,
  pageRecords,
} from '../../../contract/document-pages.ts';
import type { LabelRecord } from '../../../contract/print-request.ts';
import { because, type Reason, reasonText } from '../../../contract/reason.ts';
import { documentField, type Template } from '../../../contract/template.ts';
import { type FileKind, fileKind } from '../../../render/document/document-file.ts';
import { PictureFault } from '../../../render/image/picture-fault.ts';
import { type CheckPool, CheckStopped, type CheckTimes } from '../../../rendering/check-pool.ts';
import { faultAt, ProblemError, refusedBecause } from '../../problems.ts';

/** ms for one document, on a machine that is busy; reading it has a deadline of its own. */
const TIMES: CheckTimes = { wait: 10_000, run: 60_000, byClock: true };
/** ms for the documents of one request. */
const MOST = 30_000;

interface PagedRecords {
  readonly records: LabelRecord[];
  /** For each of them the index of the request's record that it comes from. */
  readonly origins: number[];
}

/**
 * @param data undefined: a template without dynamic data
 * @param most records of the pages of all documents
 * @returns undefined: there are no documents of pages
 * @throws ProblemError `data-unprintable`, `labels-limit`, `not-ready`
 */
export async function pagedRecords(
  checks: CheckPool,
  tenantId: string,
  { template, printerCommands }: { readonly template: Template; readonly printerCommands: boolean },
  data: readonly LabelRecord[] = [{}],
  most: number,
): Promise<PagedRecords | undefined> {
  if (template.language !== 'document') return undefined;
  const records: LabelRecord[] = [];
  const origins: number[] = [];
  let paged = 0;
  const started = performance.now();
  for (const [index, record] of data.entries()) {
    const { base64, page, record: holder } = documentPart(documentIn(record, template));
    const refuse = (reason: Reason): never => {
      const pointer = `/data/${index}/${documentField(template)}`;
      throw new ProblemError('data-unprintable', `record ${index + 1}: ${reasonText(reason)}`, {
        errors: [faultAt(pointer, reason)],
      });
    };
    if (holder !== undefined || (page !== undefined && base64 === '')) refuse(because('document-none', {}));
    const said = documentSaid(record, template);
    let made = [record];
    if (kindOf(base64, said, refuse) !== 'picture') {
      paged += 1;
      const spent = performance.now() - started;
      if (spent > MOST) refuse(because('draws-long', { seconds: MOST / 1_000 }));
      const pages = page ?? (await countsOf(checks, tenantId, { document: base64, said, printerCommands }));
      if (typeof pages !== 'number' && 'code' in pages) refuse(pages);
      else {
        const chosen = typeof pages === 'number' ? [pages] : printedPages(template.page.pages, pages);
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
  return paged === 0 ? undefined : { records, origins };
}

function kindOf(base64: string, said: string | undefined, refuse: (reason: Reason) => never): FileKind {
  try {
    return fileKind(base64, said);
  } catch (error) {
    if (error instanceof PictureFault) return refuse(error.said);
    throw error;
  }
}

/** @param counts how often each page is printed */
function printedPages(chosen: string | undefined, counts: readonly number[]): number[] {
  return chosenPages(chosen, counts.length).flatMap((page) =>
    new Array<number>(counts[page - 1] ?? 1).fill(page),
  );
}

/** @throws ProblemError `not-ready` */
async function countsOf(
  checks: CheckPool,
  tenantId: string,
  check: { document: string; said: string | undefined; printerCommands: boolean },
): Promise<readonly number[] | Reason> {
  try {
    return await checks.run(tenantId, { kind: 'pages', ...check }, TIMES);
  } catch (error) {
    if (!(error instanceof CheckStopped)) throw error;
    if (error.reason === 'memory') return because('draws-much', {});
    if (error.reason === 'deadline') return because('draws-long', { seconds: TIMES.run / 1_000 });
    throw new ProblemError('not-ready', 'other documents are being read: ask again', { cause: error });
  }
}
