/**
 * A check thread. For the service it does what printing does, but only as far as needed to know whether something would print.
 * Templates and values come from strangers, so the thread's memory is bounded, and the thread is ended if it takes too long.
 */
import { createHash } from 'node:crypto';
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { openEncoder } from '../../drivers/languages/index.ts';
import { type JobFault, JobFaultError } from '../contract/fault.ts';
import type { LabelRecord } from '../contract/print-request.ts';
import { type Reason, reasonIn } from '../contract/reason.ts';
import type { Template } from '../contract/template.ts';
import { KeptAssets } from '../render/assets.ts';
import { createRecordCheck, type RecordCheck } from '../render/check.ts';
import { compileDocument, documentPages } from '../render/document/document.ts';
import { bringsProgram } from '../render/document/document-file.ts';
import { pagesWorkedMs } from '../render/document/page-thread.ts';
import { loadZplPages } from '../render/document/zpl-pages.ts';
import { PictureFault } from '../render/image/picture-fault.ts';
import { templateProblems } from '../render/template-check.ts';
import { fieldsAt } from '../render/template-fields.ts';
import { rawPlacementFaults } from '../zpl/raw/placement.ts';
import type {
  BytesCheck,
  Check,
  CheckAnswer,
  CheckRequest,
  CheckResult,
  PagesCheck,
  PictureCheck,
  PictureResult,
  RecordsCheck,
  RecordsVerdict,
  Unprintable,
  ZplCheck,
  ZplResult,
} from './check-protocol.ts';
import { encodeDocument } from './encode-plan.ts';

/** The thread's nice value. It makes requests come first. */
const PRIORITY = 5;
// On other systems, a priority is the whole process's. Only root may lower a nice value, so a higher one (`Nice=10`) stays.
if (process.platform === 'linux' && getPriority() < PRIORITY) setPriority(PRIORITY);

const port = parentPort;
if (port === null) throw new Error('check-worker.ts runs as a worker thread');

/** Most faults that an answer lists. */
const MOST_FAULTS = 100;
/** How many templates are kept compiled, and how large each may be, characters of JSON. */
const MOST_COMPILED = 16;
const LARGEST_COMPILED = 200_000;

/** Most stack frames that are told of an unforeseen error. */
const FRAMES = 10;

/** A check of documents, which are drawn for it. */
type DrawnCheck = (record: LabelRecord, index: number) => Promise<void>;

const compiled = new LRUCache<string, RecordCheck>({ max: MOST_COMPILED });
const kept = new KeptAssets();

/** The compiled template, if possible a kept one. A template that prints something of its job, like the time, is not kept. */
async function recordCheck(request: RecordsCheck): Promise<RecordCheck | DrawnCheck> {
  const { template, dpi, language, orientation, job, media, records } = request;
  if (template.language === 'document') {
    const target = { dpi, orientation, media, records, job, language };
    const { check, program } = compileDocument(template, target);
    return async (record, index) => {
      if (program(record, index, { copies: 1 }) === undefined) await check(record, index);
    };
  }
  const source = JSON.stringify(template);
  const keeps = source.length <= LARGEST_COMPILED && !/\{\{\s*\$/.test(source);
  if (!keeps) return await createRecordCheck(template, { dpi, orientation, job });
  const key = createHash('sha256')
    .update(`${dpi} ${orientation} ${job.printerCommands ?? false} ${source}`)
    .digest('base64');
  const check = compiled.get(key) ?? (await createRecordCheck(template, { dpi, orientation, job }));
  compiled.set(key, check);
  return check;
}

/** CPU time of this thread and of what works for it, ms. A check has the same CPU time on a busy machine. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000 + pagesWorkedMs();
}

async function checkRecords(request: RecordsCheck): Promise<RecordsVerdict> {
  const started = workedMs();
  const faults: Unprintable[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof JobFaultError)) throw error;
    const { code, message, record, element, field, reason } = error.fault;
    const fields = field === undefined ? fieldsAt(request.template, element) : [field];
    faults.push({
      code,
      message,
      fields,
      ...(record === undefined ? {} : { record }),
      ...reasonIn(reason),
    });
  };
  const verdict = (complete: boolean) => ({ faults, spent: workedMs() - started, complete });
  let check: RecordCheck | DrawnCheck;
  try {
    check = await recordCheck(request);
  } catch (error) {
    note(error);
    return verdict(true);
  }
  for (const [at, record] of request.records.entries()) {
    try {
      await check(record, request.first + at);
    } catch (error) {
      note(error);
    }
    if (faults.length >= MOST_FAULTS || workedMs() - started >= request.budget) {
      return verdict(at + 1 === request.records.length);
    }
  }
  return verdict(true);
}

async function run(owner: string, check: Check, at: (pointer: string) => void): Promise<CheckResult> {
  switch (check.kind) {
    case 'template':
      return { kind: 'template', says: await templateProblems(check.template, undefined, at, check) };
    case 'records':
      return { kind: 'records', says: await checkRecords(check) };
    case 'placement':
      return { kind: 'placement', says: rawPlacementFaults(check.template, check.media) };
    case 'picture':
      return { kind: 'picture', says: await orFault(() => picture(owner, check)) };
    case 'bytes':
      return { kind: 'bytes', says: await orFault(() => bytes(check)) };
    case 'zpl':
      return { kind: 'zpl', says: await orFault(() => zpl(check)) };
    case 'pages':
      return { kind: 'pages', says: await pagesOrReason(check) };
  }
}

async function pagesOrReason({
  document,
  said,
  printerCommands,
}: PagesCheck): Promise<readonly number[] | Reason> {
  try {
    return await documentPages(document, { said, printerCommands });
  } catch (error) {
    if (error instanceof PictureFault) return error.said;
    throw error;
  }
}

async function orFault<T>(make: () => Promise<T>): Promise<T | JobFault> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof JobFaultError) return error.fault;
    throw error;
  }
}

async function picture(owner: string, check: PictureCheck): Promise<PictureResult> {
  await loadWhatDraws(check.template, [check.record]);
  const { labelPicture } = await import('./label-picture.ts');
  return await labelPicture(check, kept.of(owner));
}

async function bytes({ job, record }: BytesCheck): Promise<Uint8Array> {
  await loadWhatDraws(job.template, job.records);
  const encoder = await openEncoder(job);
  return await encodeDocument(encoder, [{ record, copy: 0, first: record, count: 1 }]);
}

async function zpl(check: ZplCheck): Promise<ZplResult> {
  await loadDrawing(true);
  const { zplLabels } = await import('./zpl-labels.ts');
  return await zplLabels(check);
}

const loadedTo = { draw: false, drawRaw: false };

/**
 * Loads the code that draws, only when the first picture is asked for, because other checks need no raster. The time for this
 * does not count against the picture's check.
 */
async function loadWhatDraws(template: Template, records: readonly LabelRecord[]): Promise<void> {
  await loadDrawing(template.language === 'zpl');
  if (template.language !== 'document' || !bringsProgram(template, records)) return;
  answer({ loaded: false });
  await loadZplPages();
  answer({ loaded: true });
}

async function loadDrawing(isRaw: boolean): Promise<void> {
  if (loadedTo.draw && (loadedTo.drawRaw || !isRaw)) return;
  answer({ loaded: false });
  await import('./label-picture.ts');
  if (isRaw) {
    const { loadRasteriser } = await import('../zpl/interpreter/rasteriser.ts');
    await loadRasteriser();
  }
  loadedTo.draw = true;
  loadedTo.drawRaw ||= isRaw;
  answer({ loaded: true });
}

function answer(message: CheckAnswer): void {
  port?.postMessage(message);
}

async function serve({ id, owner, check }: CheckRequest): Promise<void> {
  try {
    answer({ id, result: await run(owner, check, (at) => answer({ id, at })) });
  } catch (error) {
    answer({ id, broke: error instanceof Error ? error.name : typeof error, frames: framesOf(error) });
  }
}

/** Where the error happened, without its text. */
function framesOf(error: unknown): string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.filter((line) => /^\s+at /.test(line)).slice(0, FRAMES);
}

port.on('message', (request: CheckRequest) => void serve(request));
answer({ loaded: true });
