/**
 * One raster thread for all virtual printers of a process, started with the first label and ended with the last
 * printer that lets go of it, so that the process can end.
 *
 * A thread that hangs on a label is ended after {@link TIMEOUT_MS} and replaced: that label prints crossed out.
 */
import { Worker } from 'node:worker_threads';

export interface RasterRequest {
  readonly id: number;
  readonly zpl: string;
  readonly dpmm: number;
  /** Printable part and media, dots. */
  readonly width: number;
  readonly length: number;
  readonly mediaWidth: number;
  readonly mediaHeight: number;
  readonly inverted: boolean;
  readonly mirrored: boolean;
  readonly faults: readonly string[];
}

export interface RasterReply {
  readonly id: number;
  readonly png: Uint8Array;
  /** Why the label is crossed out; empty for a good one. */
  readonly faults: readonly string[];
}

const TIMEOUT_MS = 30_000;

interface Task {
  readonly request: RasterRequest;
  readonly resolve: (reply: RasterReply) => void;
  readonly reject: (error: Error) => void;
}

class RasterPool {
  #holders = 0;
  #worker: Worker | undefined;
  #tasks: Task[] = [];
  #busy: Task | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextId = 1;

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

  /** Draws a label. Rejects when the thread dies or hangs on it, or the pool is released. */
  draw(request: Omit<RasterRequest, 'id'>): Promise<RasterReply> {
    if (this.#holders === 0) return Promise.reject(new Error('the raster thread has ended'));
    return new Promise((resolve, reject) => {
      this.#tasks.push({ request: { ...request, id: this.#nextId++ }, resolve, reject });
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
    const worker = new Worker(new URL('./raster-worker.ts', import.meta.url));
    worker.on('message', (reply: RasterReply) => {
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

export const rasterPool = new RasterPool();
