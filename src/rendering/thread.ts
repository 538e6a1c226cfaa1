/** A thread that labels are made or checked in. */
import { Worker } from 'node:worker_threads';

/**
 * Of a thread's heap, for what is new, MB. Left to itself a thread takes four times as much before it cleans up, and
 * what the drawing library holds for objects that are garbage stays until then: memory would grow with the job.
 */
const YOUNG_MB = 12;

export interface ThreadOptions<Answer> {
  readonly file: URL;
  /** A thread that needs a larger heap dies; the process does not. */
  readonly heapMb: number;
  readonly workerData?: unknown;
  readonly answered: (answer: Answer) => void;
  /** It has died, and by what; it exits next. */
  readonly failed: (error: Error, outOfMemory: boolean) => void;
  readonly exited: (code: number) => void;
}

/** Starts a thread that holds no process back from its end until it is told to (`ref`). */
export function startThread<Answer>(options: ThreadOptions<Answer>): Worker {
  const worker = new Worker(options.file, {
    workerData: options.workerData,
    resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    // What a library prints there could be label data, or mix with a command's output.
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
