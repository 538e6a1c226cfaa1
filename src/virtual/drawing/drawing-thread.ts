/**
 * One drawing thread for all virtual printers of a process, started with the first label and ended when the
 * last printer releases it, so that the process can end.
 *
 * A thread that hangs on a label, or takes more memory for it than allowed, is ended and replaced: that label
 * is given up. No limit of Node's covers memory that a thread allocates outside of its heap, as readers of
 * compressed data do, so the memory of the whole process is watched while the thread works.
 */
import { Worker } from 'node:worker_threads';

/** Far more than any label takes: on a busy machine, loading the libraries alone may take half a minute. */
const TIMEOUT_MS = 120_000;
const WATCH_EVERY_MS = 100;

interface Task<Order, Reply> {
  readonly request: Order & { readonly id: number };
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export class DrawingThread<Order, Reply extends { readonly id: number }> {
  readonly #file: URL;
  readonly #memory: number;
  #holders = 0;
  #worker: Worker | undefined;
  #tasks: Task<Order, Reply>[] = [];
  #busy: Task<Order, Reply> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #nextId = 1;

  /**
   * `file`: a worker that answers each message with one that has the same `id`; `memory`: the most bytes by which the
   * process may grow over one label.
   */
  constructor(file: URL, memory = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#memory = memory;
  }

  acquire(): void {
    this.#holders++;
  }

  /** Ends the thread when the last holder releases it; labels that are not drawn by then are rejected. */
  async release(): Promise<void> {
    if (--this.#holders > 0) return;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#unwatch();
    const dropped = [...(this.#busy ? [this.#busy] : []), ...this.#tasks];
    this.#busy = undefined;
    this.#tasks = [];
    for (const task of dropped) task.reject(new Error('the drawing thread has ended'));
    await worker?.terminate();
  }

  /** Draws a label. Rejects when the thread dies or hangs on it, or is released. */
  draw(order: Order): Promise<Reply> {
    if (this.#holders === 0) return Promise.reject(new Error('the drawing thread has ended'));
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
    this.#worker ??= this.#spawn();
    this.#timer = setTimeout(() => this.#fail('took too long to draw'), TIMEOUT_MS);
    if (this.#memory < Number.POSITIVE_INFINITY) {
      const most = process.memoryUsage.rss() + this.#memory;
      this.#watch = setInterval(() => {
        if (process.memoryUsage.rss() > most) this.#fail('took too much memory to draw');
      }, WATCH_EVERY_MS);
    }
    this.#worker.postMessage(task.request);
  }

  #unwatch(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#watch);
  }

  #spawn(): Worker {
    // What a library prints there could be label data, or mix with a command's output.
    const worker = new Worker(this.#file, { stdout: true, stderr: true });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', (reply: Reply) => {
      const task = this.#busy;
      if (worker !== this.#worker || reply.id !== task?.request.id) return;
      this.#unwatch();
      this.#busy = undefined;
      task.resolve(reply);
      this.#next();
    });
    worker.on('error', (error) => {
      if (worker === this.#worker) this.#fail(error instanceof Error ? error.message : String(error));
    });
    worker.on('exit', (code) => {
      if (worker === this.#worker) this.#fail(`the drawing thread ended with code ${code}`);
    });
    return worker;
  }

  /** Gives up the label being drawn and its thread; the next label gets a new one. */
  #fail(reason: string): void {
    const task = this.#busy;
    const worker = this.#worker;
    this.#unwatch();
    this.#worker = undefined;
    this.#busy = undefined;
    void worker?.terminate();
    task?.reject(new Error(reason));
    this.#next();
  }
}
