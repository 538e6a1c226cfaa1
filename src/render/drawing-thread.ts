/**
 * A thread that draws one label after the other. It starts with the first label, and ends when its last holder releases it.
 *
 * If a thread hangs on a label, or takes more memory for it than allowed, the label is given up and the thread is replaced.
 * Readers of compressed data allocate memory outside the thread's heap, and Node cannot limit that. So the memory of the whole
 * process is watched while the thread works. A thread that has made the process much larger is ended as soon as nothing waits
 * for it, and its memory goes back to the system.
 */
import { Worker } from 'node:worker_threads';
import { grownSince, trimMemory } from './trim-memory.ts';
import { limitWork } from './work-limit.ts';

/** Far more than any label takes, because on a busy machine loading the libraries alone may take half a minute. */
const TIMEOUT_MS = 120_000;
const WATCH_EVERY_MS = 100;
/** If the process grows by more bytes than this over one label, the thread ends once nothing waits for it. */
const MUCH = 256 * 1024 * 1024;

/** Why a label was given up. */
export class DrawingStopped extends Error {
  readonly reason: 'time' | 'memory' | 'ended';

  constructor(reason: DrawingStopped['reason'], message: string) {
    super(message);
    this.name = 'DrawingStopped';
    this.reason = reason;
  }
}

interface Bounds {
  /** The most bytes by which the process may grow over one label. */
  readonly memory?: number;
  /** ms of work for one label. */
  readonly time?: number;
  /** The thread's heap, MB. */
  readonly heapMb?: number;
}

interface Task<Order, Reply> {
  readonly request: Order & { readonly id: number };
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export class DrawingThread<Order, Reply extends { readonly id: number }> {
  readonly #file: URL;
  readonly #bounds: Bounds;
  #holders = 0;
  #worker: Worker | undefined;
  /** The size of the process when the thread started, and when its label was begun, bytes. */
  #rss = { thread: 0, label: 0 };
  #tasks: Task<Order, Reply>[] = [];
  #busy: Task<Order, Reply> | undefined;
  #unlimit = () => {};
  #watch: NodeJS.Timeout | undefined;
  #nextId = 1;

  /** @param file a worker that says `loaded`, and then answers each message with one that has the same `id` */
  constructor(file: URL, bounds: Bounds = {}) {
    this.#file = file;
    this.#bounds = bounds;
  }

  acquire(): void {
    this.#holders++;
  }

  /** Ends the thread when the last holder releases it. Labels that are not drawn by then are rejected. */
  async release(): Promise<void> {
    if (--this.#holders > 0) return;
    this.#unwatch();
    const dropped = [...(this.#busy ? [this.#busy] : []), ...this.#tasks];
    this.#busy = undefined;
    this.#tasks = [];
    for (const task of dropped) task.reject(new DrawingStopped('ended', 'the drawing thread has ended'));
    await this.#end();
  }

  /** Draws a label. Rejects with `DrawingStopped` when the thread dies or hangs on it, or is released. */
  draw(order: Order): Promise<Reply> {
    if (this.#holders === 0)
      return Promise.reject(new DrawingStopped('ended', 'the drawing thread has ended'));
    return new Promise((resolve, reject) => {
      this.#tasks.push({ request: { ...order, id: this.#nextId++ }, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#busy || this.#holders === 0) return;
    const task = this.#tasks.shift();
    if (!task) return;
    this.#busy = task;
    this.#limit(this.#worker === undefined ? TIMEOUT_MS : this.#bounds.time);
    this.#worker ??= this.#spawn();
    this.#worker.ref();
    const { memory } = this.#bounds;
    this.#rss.label = process.memoryUsage.rss();
    if (memory !== undefined) {
      this.#watch = setInterval(() => {
        if (grownSince(this.#rss.label) > memory) this.#fail('memory', 'took too much memory to draw');
      }, WATCH_EVERY_MS);
    }
    this.#worker.postMessage(task.request);
  }

  #limit(ms: number = TIMEOUT_MS): void {
    this.#unlimit();
    this.#unlimit = limitWork(ms, () => this.#fail('time', 'took too long to draw'));
  }

  #unwatch(): void {
    this.#unlimit();
    clearInterval(this.#watch);
  }

  #spawn(): Worker {
    // The thread's output is dropped: what a library prints could be label data, or mix with a command's output.
    const { heapMb } = this.#bounds;
    this.#rss.thread = process.memoryUsage.rss();
    const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb };
    const worker = new Worker(this.#file, { stdout: true, stderr: true, resourceLimits });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', (reply: Reply | 'loaded') => {
      const task = this.#busy;
      if (worker !== this.#worker || task === undefined) return;
      if (reply === 'loaded') {
        this.#limit(this.#bounds.time);
        return;
      }
      if (reply.id !== task.request.id) return;
      this.#unwatch();
      this.#busy = undefined;
      worker.unref();
      task.resolve(reply);
      if (this.#tasks.length === 0 && grownSince(this.#rss.label) > MUCH) void this.#end();
      this.#next();
    });
    worker.on('error', (error) => {
      if (worker !== this.#worker) return;
      const full = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#fail(full ? 'memory' : 'ended', error instanceof Error ? error.message : String(error));
    });
    worker.on('exit', (code) => {
      if (worker === this.#worker) this.#fail('ended', `the drawing thread ended with code ${code}`);
    });
    return worker;
  }

  /** Gives up the label being drawn and its thread; the next label gets a new one. */
  #fail(reason: DrawingStopped['reason'], message: string): void {
    const task = this.#busy;
    this.#unwatch();
    this.#busy = undefined;
    void this.#end();
    task?.reject(new DrawingStopped(reason, message));
    this.#next();
  }

  /** Ends the thread; the next label gets a new one. */
  async #end(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    const { thread } = this.#rss;
    await worker.terminate();
    await trimMemory(thread);
  }
}
