/**
 * One drawing thread for all virtual printers of a process, started with the first label and ended with the last
 * printer that lets go of it, so that the process can end.
 *
 * A thread that hangs on a label is ended after {@link TIMEOUT_MS} and replaced: that label is given up.
 */
import { type ResourceLimits, Worker } from 'node:worker_threads';

const TIMEOUT_MS = 30_000;

interface Task<Order, Reply> {
  readonly request: Order & { readonly id: number };
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export class DrawingThread<Order, Reply extends { readonly id: number }> {
  readonly #file: URL;
  readonly #limits: ResourceLimits;
  #holders = 0;
  #worker: Worker | undefined;
  #tasks: Task<Order, Reply>[] = [];
  #busy: Task<Order, Reply> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextId = 1;

  /** `file`: a worker that answers each message with one that has the same `id`. */
  constructor(file: URL, limits: ResourceLimits = {}) {
    this.#file = file;
    this.#limits = limits;
  }

  acquire(): void {
    this.#holders++;
  }

  /** Ends the thread with the last holder; what was not drawn by then is rejected. */
  async release(): Promise<void> {
    if (--this.#holders > 0) return;
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#timer);
    const dropped = [...(this.#busy ? [this.#busy] : []), ...this.#tasks];
    this.#busy = undefined;
    this.#tasks = [];
    for (const task of dropped) task.reject(new Error('the raster thread has ended'));
    await worker?.terminate();
  }

  /** Draws a label. Rejects when the thread dies or hangs on it, or is released. */
  draw(order: Order): Promise<Reply> {
    if (this.#holders === 0) return Promise.reject(new Error('the raster thread has ended'));
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
    this.#worker.postMessage(task.request);
  }

  #spawn(): Worker {
    const worker = new Worker(this.#file, { resourceLimits: this.#limits });
    worker.on('message', (reply: Reply) => {
      const task = this.#busy;
      if (worker !== this.#worker || reply.id !== task?.request.id) return;
      clearTimeout(this.#timer);
      this.#busy = undefined;
      task.resolve(reply);
      this.#next();
    });
    worker.on('error', (error) => {
      if (worker === this.#worker) this.#fail(error instanceof Error ? error.message : String(error));
    });
    worker.on('exit', (code) => {
      if (worker === this.#worker) this.#fail(`the raster thread ended with code ${code}`);
    });
    return worker;
  }

  /** Gives up the label being drawn and its thread; the next label gets a new one. */
  #fail(reason: string): void {
    const task = this.#busy;
    const worker = this.#worker;
    clearTimeout(this.#timer);
    this.#worker = undefined;
    this.#busy = undefined;
    void worker?.terminate();
    task?.reject(new Error(reason));
    this.#next();
  }
}
