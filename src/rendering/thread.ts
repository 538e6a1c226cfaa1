/** Starts the threads in which labels are made or checked. */
import { Worker } from 'node:worker_threads';

/**
 * A thread's young generation, MB. By default it grows to four times as much before garbage is collected. Until then the
 * drawing library keeps what it holds for dead objects, so memory would grow with the job.
 */
const YOUNG_MB = 12;

interface ThreadOptions<Answer> {
  readonly file: URL;
  /** If a thread needs a larger heap, the thread dies and not the process. */
  readonly heapMb: number;
  readonly workerData?: unknown;
  readonly answered: (answer: Answer) => void;
  /** The thread has died of this error; it exits next. */
  readonly failed: (error: Error, outOfMemory: boolean) => void;
  readonly exited: (code: number) => void;
}

/** Starts a thread that does not keep the process alive until `ref` is called. */
export function startThread<Answer>(options: ThreadOptions<Answer>): Worker {
  const worker = new Worker(options.file, {
    workerData: options.workerData,
    resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    // What a library prints could be label data, or could mix with a command's output. So it is read and thrown away.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  worker.on('message', options.answered);
  worker.on('error', (thrown: unknown) => {
    const error = thrown instanceof Error ? thrown : new Error('error');
    options.failed(error, 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY');
  });
  worker.on('exit', options.exited);
  return worker;
}
