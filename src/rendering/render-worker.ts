/**
 * A render thread: makes the bytes of labels for several jobs at a time. The jobs take turns, one label each.
 *
 * The check of a job makes its first labels (all labels of a small job), and keeps them until they are due. If the language can
 * tell, the check only finds out whether the other labels can be made. This takes a hundredth of the time.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { LabelEncoder, Language } from '../../drivers/languages/language.ts';
import { faultFor, type JobFault, JobFaultError } from '../contract/fault.ts';
import type { LanguageId } from '../contract/format.ts';
import { labelCount, labelsOnSheet, type QueuedJob } from '../contract/queued-job.ts';
import { because } from '../contract/reason.ts';
import { copiesDiffer } from '../render/template-fields.ts';
import { planChunks, planDocuments } from './chunk-plan.ts';
import { encodeChunk, encodeDocument, joined } from './encode-plan.ts';
import { AHEAD, type Chunk, type Opening, type RenderAnswer, type RenderRequest } from './render-protocol.ts';

const port = parentPort;
if (port === null) throw new Error('render-worker.ts runs as a worker thread');

/** What the module that `workerData` names must export. */
interface LanguagesModule {
  LANGUAGES: Readonly<Partial<Record<LanguageId, Language>>>;
}
const { LANGUAGES }: LanguagesModule = await import(String(workerData));
// Loads all code that draws, before the first job comes.
await Promise.all(Object.values(LANGUAGES).map((language) => language.encoder()));

/** How often a check says that it goes on, ms: much more often than a thread may be silent. */
const WORKING_MS = 500;
/** How long a check makes labels before it only looks at the rest, ms. */
const MAKING_MS = 250;
/** How long a check runs before it gives the other jobs of its thread a turn, ms. */
const STRETCH_MS = 20;

/** Templates that several jobs have brought. The labels of each are compiled only once (`kept-labels.ts`). */
const templates = new Map<number, QueuedJob['template']>();

class Session {
  readonly #id: number;
  readonly #opening: Opening;
  readonly #job: QueuedJob;
  readonly #cache: Chunk[] = [];
  /** Chunks that the check has made and kept. */
  #kept = 0;
  #encoder: Promise<LabelEncoder> | undefined;
  #told = performance.now();
  #chunks: AsyncGenerator<Chunk> | null = null;
  #closed = false;

  constructor(id: number, opening: Opening) {
    this.#id = id;
    this.#opening = opening;
    this.#job = { ...opening.job, template: templateOf(opening) };
  }

  /** Returns the first chunks, and whether these are all. */
  async check(): Promise<{ chunks: Chunk[]; ended: boolean }> {
    const made = await this.#check();
    this.#kept = this.#cache.length;
    const chunks = this.#cache.splice(0, AHEAD);
    return { chunks, ended: made === 'all' && this.#cache.length === 0 };
  }

  async #check(): Promise<'all' | 'some'> {
    const begun = performance.now();
    const encoder = await this.#open();
    let room = this.#opening.cacheBytes;
    let made: 'all' | 'some' = 'all';
    for await (const chunk of this.#make(0)) {
      if (this.#closed) return 'some';
      this.#tell();
      room -= chunk.bytes.length;
      if (room >= 0) this.#cache.push(chunk);
      else made = 'some';
      if (encoder.check === undefined || (room >= 0 && performance.now() - begun < MAKING_MS)) continue;
      await this.#look(encoder, chunk.first + chunk.count);
      return 'some';
    }
    return made;
  }

  /** Finds out whether the labels from `from` on can be made. */
  async #look(encoder: LabelEncoder, from: number): Promise<void> {
    const { records, copies } = this.#job;
    let breathed = performance.now();
    for (let record = Math.floor(from / copies); record < records.length && !this.#closed; record++) {
      await encoder.check?.(record);
      if (performance.now() - breathed < STRETCH_MS) continue;
      this.#tell();
      await breathe();
      breathed = performance.now();
    }
  }

  /** Says from time to time that a check goes on, so that the thread does not count as stuck. */
  #tell(): void {
    if (performance.now() - this.#told < WORKING_MS) return;
    this.#told = performance.now();
    answer({ kind: 'working', session: this.#id });
  }

  async next(): Promise<Chunk | null> {
    this.#chunks ??= this.#deliver();
    const { value, done } = await this.#chunks.next();
    return done ? null : value;
  }

  close(): void {
    this.#closed = true;
  }

  /** Opens the encoder once, because the labels of the check and those made later are one sequence. */
  #open(): Promise<LabelEncoder> {
    const job = this.#job;
    this.#encoder ??= languageOf(job)
      .encoder()
      .then((open) => open(job));
    return this.#encoder;
  }

  async *#deliver(): AsyncGenerator<Chunk> {
    for (let chunk = this.#cache.shift(); chunk !== undefined; chunk = this.#cache.shift()) yield chunk;
    yield* this.#make(this.#kept);
  }

  /** Makes the job's chunks, except the first `skip`. */
  async *#make(skip: number): AsyncGenerator<Chunk> {
    const job = this.#job;
    const { from, maxCopies, documents } = this.#opening;
    const language = languageOf(job);
    const encoder = await this.#open();
    const { pagesPerDocument } = language;
    const perPage = language.prints === 'pages' ? labelsOnSheet(job) : 1;
    const most = pagesPerDocument === undefined ? maxCopies : Math.min(maxCopies, pagesPerDocument * perPage);
    const { copies, template } = job;
    const total = labelCount(job);
    const labels = { copies, from, upTo: total, copiesDiffer: copiesDiffer(template) };
    let made = 0;
    // If several labels share a page, they are made as documents also for a printer that takes bytes.
    if (documents || perPage > 1) {
      for (const plan of planDocuments(labels, most, perPage)) {
        if (this.#closed) return;
        if (made++ < skip) continue;
        const count = plan.reduce((sum, chunk) => sum + chunk.count, 0);
        yield { bytes: await encodeDocument(encoder, plan), first: plan[0]?.first ?? from, count };
        await breathe();
      }
      return;
    }
    const begin = encoder.begin();
    for (const chunk of planChunks(labels, most)) {
      const { first, count } = chunk;
      if (this.#closed) return;
      if (made++ < skip) continue;
      const label = await encodeChunk(encoder, chunk);
      // The bytes before and after all labels travel with the first and the last chunk.
      const before = first === from ? [begin] : [];
      const after = first + count === total ? [encoder.end()] : [];
      // What a document holds besides labels is not known, because nobody has looked into it.
      const besides =
        template.language === 'document' || [...before, ...after].some(({ length }) => length > 0);
      yield { bytes: joined([...before, label, ...after]), first, count, besides };
      // Gives the other jobs of this thread a turn, and lets the drawing library free memory.
      await breathe();
    }
  }
}

function templateOf({ template, keptAs, forget }: Opening): QueuedJob['template'] {
  for (const number of forget) templates.delete(number);
  const known = template ?? templates.get(keptAs ?? 0);
  if (known === undefined) throw new Error(`no template ${keptAs}`);
  if (keptAs !== undefined) templates.set(keptAs, known);
  return known;
}

/** @throws JobFaultError `language-unsupported` */
function languageOf(job: QueuedJob): Language {
  const language = LANGUAGES[job.format.language];
  if (language !== undefined) return language;
  throw faultFor('language-unsupported', because('language-unknown', { language: job.format.language }));
}

function faultOf(error: unknown): JobFault {
  if (error instanceof JobFaultError) return error.fault;
  // The text of an unforeseen error may quote label data. So only its name goes out.
  const name = error instanceof Error ? error.name : typeof error;
  return faultFor('internal', because('rendering-failed', { name })).fault;
}

const sessions = new Map<number, Session>();

function answer(message: RenderAnswer, chunks: readonly Chunk[] = []): void {
  port?.postMessage(
    message,
    chunks.map(({ bytes }) => bytes.buffer),
  );
}

async function serve(request: RenderRequest): Promise<void> {
  const id = request.session;
  if (request.kind === 'close') {
    sessions.get(id)?.close();
    sessions.delete(id);
    return;
  }
  try {
    if (request.opening !== undefined) sessions.set(id, new Session(id, request.opening));
    const session = sessions.get(id);
    if (session === undefined) return;
    if (request.kind === 'check') {
      const made = await session.check();
      if (made.ended) sessions.delete(id);
      answer({ kind: 'checked', session: id, ...made }, made.chunks);
    } else {
      const chunk = await session.next();
      if (chunk === null) answer({ kind: 'end', session: id });
      else answer({ kind: 'chunk', session: id, chunk }, [chunk]);
    }
  } catch (error) {
    answer({ kind: 'fault', session: id, fault: faultOf(error) });
  }
}

port.on('message', (request: RenderRequest) => void serve(request));
