/**
 * Lays a job's labels out as pages, for languages of pages (PDF, PWG raster, PNG). A page is one label, or as many labels as
 * the template's sheet has, in the job's order. The last page may have fewer.
 */
import { setImmediate } from 'node:timers/promises';
import { faultFor } from '../../src/contract/fault.ts';
import type { LabelRecord } from '../../src/contract/print-request.ts';
import { labelsOnSheet, type QueuedJob } from '../../src/contract/queued-job.ts';
import { because } from '../../src/contract/reason.ts';
import type { DisplayList } from '../../src/render/display-list.ts';
import { compileDocument } from '../../src/render/document/document.ts';
import { keptLabel } from '../../src/render/output/kept-labels.ts';
import { labelPage, type Page, sheetPage } from '../../src/render/output/page.ts';
import { compileRawPictures } from '../../src/render/output/raw-picture.ts';
import type { LabelEncoder, LabelRun } from './language.ts';

/** A page, and how many consecutive copies of it to print. */
export interface PageRun {
  readonly page: Page;
  readonly copies: number;
}

/**
 * Opens a job. `pages` makes pages of some of its labels; the first of these begins a page.
 * @throws JobFaultError `template-invalid`, `language-unsupported`; `pages` throws what `LabelEncoder.label` throws
 */
export async function openPages(job: QueuedJob) {
  const { template, format, orientation, records } = job;
  const size = labelsOnSheet(job);
  const { layout, check } = await openLabels(job);
  const pageOf = (lists: readonly DisplayList[]): Page => {
    if (template.language === 'platen' && template.sheet !== undefined) {
      return sheetPage(template, template.sheet, { dpi: format.dpi, orientation }, lists);
    }
    const [list] = lists;
    if (list === undefined) throw new RangeError('A page has a label');
    return labelPage(list);
  };
  const pages = async function* (labels: readonly LabelRun[]): AsyncGenerator<PageRun, void, void> {
    let open: DisplayList[] = [];
    for (const { record, copies, copy } of labels) {
      const list = await layout(records[record] ?? {}, record, copy);
      const whole = open.length === 0 ? Math.floor(copies / size) : 0;
      if (whole > 0) yield { page: pageOf(Array(size).fill(list)), copies: whole };
      for (let copy = whole * size; copy < copies; copy++) {
        open.push(list);
        if (open.length < size) continue;
        yield { page: pageOf(open), copies: 1 };
        open = [];
      }
      // The drawing library frees its memory when the event loop turns.
      await setImmediate();
    }
    if (open.length > 0) yield { page: pageOf(open), copies: 1 };
  };
  return { pages, check };
}

const NOTHING = new Uint8Array();

/**
 * The encoder of a language of pages.
 * @param document makes the bytes of some pages, without `begin`
 * @param begin bytes before the first page
 */
export async function encoderOfPages(
  job: QueuedJob,
  document: (pages: AsyncIterable<PageRun>) => Promise<Uint8Array>,
  begin: Uint8Array = NOTHING,
): Promise<LabelEncoder> {
  const { pages, check } = await openPages(job);
  return {
    begin: () => begin,
    label: (record, copies, copy = 0) => document(pages([{ record, copies, copy }])),
    ...(check && { check }),
    document: (labels) => document(pages(labels)),
    end: () => NOTHING,
  };
}

interface OpenLabels {
  /** Lays out one label of a record. */
  layout(record: LabelRecord, index: number, copy?: number): DisplayList | Promise<DisplayList>;
  /** As in `LabelEncoder`. */
  check?(record: number): void | Promise<void>;
  /** Only for documents, as in `compileDocument`. */
  readonly program?: ReturnType<typeof compileDocument>['program'];
}

/** Opens a job's labels, for any kind of template. @throws JobFaultError as `openPages` */
export async function openLabels(job: QueuedJob): Promise<OpenLabels> {
  const { template, format, orientation, records } = job;
  if (template.language === 'document') {
    const { dpi, language } = format;
    const target = { dpi, orientation, media: format, records, job, language };
    const { layout, check, program } = compileDocument(template, target);
    // A page's vectors are drawn once more and compared, which takes longer than its dots. So PDF has a check of its own,
    // without them.
    const apart = language === 'pdf' && { check: (record: number) => check(records[record] ?? {}, record) };
    return { layout, ...apart, program };
  }
  if (template.language === 'platen') {
    const { layout, check } = await keptLabel(template, { dpi: format.dpi, orientation, job });
    return { layout, check: (record) => check(records[record] ?? {}, record) };
  }
  requireOwnOrientation(job);
  return compileRawPictures(template, { ...format, job });
}

/** @throws JobFaultError `language-unsupported`: the job is in landscape, but a raw template sets its own orientation */
export function requireOwnOrientation(job: QueuedJob): void {
  if (job.orientation !== 'landscape') return;
  throw faultFor('language-unsupported', because('raw-landscape', {}));
}
