/**
 * The render threads. Labels are made here and nowhere else, so that a heavy or broken template can neither hold up the thread
 * that keeps the queue's leases alive, nor bring the agent down.
 *
 * If a job finds no free thread, a new one starts; it ends when no job has come for a while. Tenants share threads only if
 * there are too many tenants, so a tenant whose labels are slow to draw holds up nobody else. A job's session stays on one
 * thread. If a thread dies, or answers nothing for too long, it is replaced, and its sessions fail with `RenderCrash`. Nobody
 * knows which session was to blame. So a job may try once more on a thread of its own (`alone`), where it can neither harm
 * another job nor be harmed by one.
 */
import type { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type JobFault, JobFaultError } from '../contract/fault.ts';
import type { QueuedJob } from '../contract/queued-job.ts';
import type { Logger } from '../log.ts';
import { AHEAD, type Chunk, type Opening, type RenderAnswer, type RenderRequest } from './render-protocol.ts';
import { startThread } from './thread.ts';

/** Most bytes of labels that a check keeps. */
const CACHE_BYTES = 4 * 1024 * 1024;
/** A thread's heap, MB. */
const HEAP_MB = 1024;
/** Threads beyond the configured number, for tenants that would find all threads taken by other tenants. */
const MORE_FOR_OTHERS = 4;
/** Templates that a thread keeps, and characters of their pictures and fonts. */
const MOST_TEMPLATES = 16;
const MOST_CHARACTERS = 16_000_000;
/** How long a thread without a job is kept, ms. It takes some 60 MB, but to start one takes the better part of a second. */
const IDLE_MS = 300_000;

export class RenderCrash extends Error {
  constructor(detail: string) {
    super(`A render thread stopped: ${detail}`);
    this.name = 'RenderCrash';
  }
}

export interface RenderPoolOptions {
  threads: number;
  languagesModule: URL;
  /** How long a thread that was asked something may be silent, ms. */
  stuckMs: number;
  /** How long a thread without a job is kept, ms. Default: five minutes. */
  idleMs?: number;
  logger: Logger;
}

interface RenderSessionOptions {
  /** The first label to make. */
  from: number;
  /** Most labels in one chunk. */
  maxCopies: number;
  /** Each chunk is to be a document by itself. */
  documents?: boolean;
  alone?: boolean;
}

export class RenderPool {
  readonly #options: RenderPoolOptions;
  #threads: RenderThread[] = [];
  readonly #lone = new Set<RenderThread>();
  #stopped = false;

  constructor(options: RenderPoolOptions) {
    this.#options = options;
  }

  /** How many threads there are, with a job or without one. */
  get threads(): number {
    return this.#threads.length + this.#lone.size;
  }
  get busy(): number {
    return this.threads - this.#threads.filter(({ sessions }) => sessions === 0).length;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const threads = [...this.#threads, ...this.#lone];
    this.#threads = [];
    this.#lone.clear();
    await Promise.all(threads.map((thread) => thread.stop()));
  }

  /** Starts a job's labels, if possible on a free or a new thread. The caller has to close the session in any case. */
  open(job: QueuedJob, options: RenderSessionOptions): RenderSession {
    if (this.#stopped) throw new RenderCrash('the agent is stopping');
    if (options.alone) {
      const thread = new RenderThread(this.#options);
      this.#lone.add(thread);
      const closed = () => {
        this.#lone.delete(thread);
        void thread.stop();
      };
      return new RenderSession(thread, job, options, closed);
    }
    this.#threads = this.#threads.filter(({ dead }) => !dead);
    return new RenderSession(this.#threadFor(job.tenantId), job, options, () => undefined);
  }

  #threadFor(tenantId: string): RenderThread {
    const { threads } = this.#options;
    const byJobs = this.#threads.toSorted((a, b) => a.sessions - b.sessions);
    const own = byJobs.filter((thread) => thread.has(tenantId));
    const [least] = own;
    // No tenant gets more threads than are configured.
    if (least !== undefined && own.length >= threads) return least;
    const free = byJobs.find(({ sessions }) => sessions === 0);
    if (free !== undefined) return free;
    const room = least === undefined ? threads + MORE_FOR_OTHERS : threads;
    return this.#threads.length < room ? this.#start() : (least ?? byJobs[0] ?? this.#start());
  }

  #start(): RenderThread {
    const { idleMs = IDLE_MS } = this.#options;
    const rests = () => {
      this.#threads = this.#threads.filter((one) => one !== thread);
      void thread.stop();
    };
    const thread = new RenderThread(this.#options, { idleMs, rests });
    this.#threads.push(thread);
    return thread;
  }
}

type Template = QueuedJob['template'];
type Receiver = {
  receive(answer: Exclude<RenderAnswer, { kind: 'working' }>): void;
  crash(error: RenderCrash): void;
};

/** The size of a template, characters: its images, fonts or raw source, and a thousand for the rest. */
function sizeOf(template: Template): number {
  const brought = template.language === 'platen' ? [...template.images, ...template.fonts] : [];
  const rest = template.language === 'zpl' ? template.source.length : 0;
  return brought.reduce((sum, { data }) => sum + data.length, rest + 1_000);
}

type SessionOpening = Pick<Opening, 'from' | 'maxCopies' | 'documents' | 'cacheBytes'> & { job: QueuedJob };

/** What happens to a thread that no job has needed for `idleMs`. */
interface Rest {
  idleMs: number;
  rests(): void;
}

class RenderThread {
  readonly #worker: Worker;
  readonly #receivers = new Map<number, Receiver & { tenantId: string }>();
  readonly #stuckMs: number;
  readonly #rest: Rest | null;
  #resting: NodeJS.Timeout | undefined;
  /** The numbers of templates that the thread keeps, by the object that jobs share. `#seen`: templates brought before. */
  readonly #templates = new LRUCache<Template, number>({
    max: MOST_TEMPLATES,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (_number, template) => sizeOf(template),
    dispose: (number) => this.#forgotten.push(number),
  });
  readonly #seen = new WeakSet<Template>();
  #forgotten: number[] = [];
  #asked = 0;
  #watchdog: NodeJS.Timeout | undefined;
  #lastSession = 0;
  #lastTemplate = 0;
  dead = false;

  constructor({ languagesModule, stuckMs, logger }: RenderPoolOptions, rest: Rest | null = null) {
    this.#stuckMs = stuckMs;
    this.#rest = rest;
    this.#worker = startThread<RenderAnswer>({
      file: new URL('./render-worker.ts', import.meta.url),
      heapMb: HEAP_MB,
      workerData: languagesModule.href,
      answered: (answer) => this.#received(answer),
      failed: (error) => {
        logger.error({ err: error }, 'render thread failed');
        this.#die(error.name);
      },
      exited: (code) => this.#die(`exit code ${code}`),
    });
  }

  get sessions(): number {
    return this.#receivers.size;
  }

  /** The thread has jobs of the tenant. */
  has(tenantId: string): boolean {
    return [...this.#receivers.values()].some((receiver) => receiver.tenantId === tenantId);
  }

  join(tenantId: string, receiver: Receiver): number {
    const session = ++this.#lastSession;
    this.#receivers.set(session, { ...receiver, tenantId });
    clearTimeout(this.#resting);
    if (this.#receivers.size === 1) this.#worker.ref();
    return session;
  }

  #opened({ job, ...more }: SessionOpening): Opening {
    const { template, ...rest } = job;
    return { ...more, job: rest, ...this.#bringing(template) };
  }

  /**
   * What the thread needs to be told of a job's template. If the same template object comes a second time, the thread keeps the
   * template. If every job has an object of its own, the thread keeps none.
   */
  #bringing(template: Template): Pick<Opening, 'template' | 'keptAs' | 'forget'> {
    const known = this.#templates.get(template);
    if (known !== undefined) return { keptAs: known, forget: [] };
    if (!this.#seen.has(template) || sizeOf(template) > MOST_CHARACTERS) {
      this.#seen.add(template);
      return { template, forget: [] };
    }
    const keptAs = ++this.#lastTemplate;
    this.#templates.set(template, keptAs);
    const forget = this.#forgotten;
    this.#forgotten = [];
    return { template, keptAs, forget };
  }

  /** @param known the thread knows the session, and has to be told that it is over */
  leave(session: number, known: boolean): void {
    this.#receivers.delete(session);
    if (known && !this.dead) this.#worker.postMessage({ kind: 'close', session } satisfies RenderRequest);
    if (this.#receivers.size > 0) return;
    this.#worker.unref();
    clearTimeout(this.#resting);
    if (this.#rest !== null) this.#resting = setTimeout(this.#rest.rests, this.#rest.idleMs).unref();
  }

  /** @param opening given only with the first question of a session */
  ask(kind: 'check' | 'next', session: number, opening?: SessionOpening): void {
    if (this.dead) throw new RenderCrash('gone');
    if (this.#asked++ === 0) this.#watch();
    const request = { kind, session, opening: opening && this.#opened(opening) } satisfies RenderRequest;
    this.#worker.postMessage(request);
  }

  async stop(): Promise<void> {
    this.#die('stopped');
    await this.#worker.terminate();
  }

  #received(answer: RenderAnswer): void {
    if (answer.kind !== 'working') this.#asked--;
    clearTimeout(this.#watchdog);
    if (this.#asked > 0) this.#watch();
    if (answer.kind !== 'working') this.#receivers.get(answer.session)?.receive(answer);
  }

  #watch(): void {
    this.#watchdog = setTimeout(() => {
      this.#die(`no answer for ${this.#stuckMs} ms`);
      void this.#worker.terminate();
    }, this.#stuckMs).unref();
  }

  #die(detail: string): void {
    if (this.dead) return;
    this.dead = true;
    clearTimeout(this.#watchdog);
    clearTimeout(this.#resting);
    for (const receiver of this.#receivers.values()) receiver.crash(new RenderCrash(detail));
  }
}

/** One job's labels, in order. */
export class RenderSession {
  readonly from: number;
  readonly #thread: RenderThread;
  readonly #id: number;
  readonly #onClose: () => void;
  readonly #ready: (Chunk | null)[] = [];
  /** Goes to the thread with the first question; undefined from then on. */
  #opening: SessionOpening | undefined;
  #error: Error | null = null;
  #checked = false;
  #closed = false;
  #requested = 0;
  /** The thread has said which chunk is the last. */
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(thread: RenderThread, job: QueuedJob, options: RenderSessionOptions, onClose: () => void) {
    const { from, maxCopies, documents = false } = options;
    this.from = from;
    this.#thread = thread;
    this.#onClose = onClose;
    this.#id = thread.join(job.tenantId, {
      receive: (answer) => this.#receive(answer),
      crash: (error) => this.#fail(error),
    });
    this.#opening = { job, from, maxCopies, documents, cacheBytes: CACHE_BYTES };
  }

  /**
   * Makes the first labels, and finds out whether all others can be made.
   * @throws JobFaultError for the first label that cannot be made; RenderCrash; the signal's reason
   */
  async check(signal: AbortSignal): Promise<void> {
    this.#ask('check');
    await this.#until(() => this.#checked, signal);
  }

  /**
   * The next chunk; null after the last one. It stays the next one until `taken` is called.
   * @throws JobFaultError, RenderCrash, the signal's reason
   */
  async peek(signal: AbortSignal): Promise<Chunk | null> {
    while (this.#requested < AHEAD && !this.#ended && !this.#closed && this.#error === null) {
      this.#requested++;
      this.#ask('next');
    }
    await this.#until(() => this.#ready.length > 0, signal);
    return this.#ready[0] ?? null;
  }

  /** `peek` need not wait: the next chunk or the end is there. */
  get available(): boolean {
    return this.#ready.length > 0;
  }

  /** The caller is done with the chunk that `peek` has returned. */
  taken(): void {
    this.#ready.shift();
    this.#requested--;
  }

  close(): void {
    this.#closed = true;
    this.#wake();
    const over = this.#opening !== undefined || (this.#checked && this.#ended);
    this.#thread.leave(this.#id, !over);
    this.#onClose();
  }

  #ask(kind: 'check' | 'next'): void {
    const opening = this.#opening;
    this.#opening = undefined;
    try {
      this.#thread.ask(kind, this.#id, opening);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new RenderCrash(String(error)));
    }
  }

  #receive(answer: Exclude<RenderAnswer, { kind: 'working' }>): void {
    if (answer.kind === 'checked') {
      this.#checked = true;
      this.#ready.push(...answer.chunks);
      this.#requested += answer.chunks.length;
      if (answer.ended) this.#end();
    } else if (answer.kind === 'chunk') this.#ready.push(answer.chunk);
    else if (answer.kind === 'end') this.#end();
    else {
      const { code, message, ...where } = answer.fault;
      this.#error ??= new JobFaultError(code, message, faultPlace(where));
    }
    this.#wake();
  }

  #end(): void {
    if (!this.#ended) this.#ready.push(null);
    this.#ended = true;
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#wake();
  }

  async #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    const onAbort = () => this.#wake();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      while (!condition()) {
        signal.throwIfAborted();
        if (this.#error !== null) throw this.#error;
        if (this.#closed) throw new RenderCrash('closed');
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function faultPlace({ record, element, field, reason }: Omit<JobFault, 'code' | 'message'>) {
  return {
    ...(record === undefined ? {} : { record }),
    ...(element === undefined ? {} : { element }),
    ...(field === undefined ? {} : { field }),
    reason,
  };
}
