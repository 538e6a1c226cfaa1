/** What the agent's thread and its render threads say to each other; both ends are this repository. */
import type { JobFault } from '../contract/fault.ts';
import type { QueuedJob } from '../contract/queued-job.ts';

/** Bytes that print the labels from `first` on, `count` of them, at least one. */
export interface Chunk {
  bytes: Uint8Array<ArrayBuffer>;
  first: number;
  count: number;
  /** There may be more in the bytes than labels (settings, a stored format), which a printer says is pending too. */
  besides?: boolean;
}

/** Chunks asked for ahead of their use; and as many go with the answer to a check. */
export const AHEAD = 16;

/** The labels of `job` from label `from` on, at most `maxCopies` in a chunk. */
export interface Opening {
  job: Omit<QueuedJob, 'template'>;
  /** Left out: the thread has kept the template as `keptAs`. */
  template?: QueuedJob['template'] | undefined;
  /** The number under which the thread keeps the template; left out: it does not keep it. */
  keptAs?: number | undefined;
  /** Numbers of templates that it need not keep any more. */
  forget: readonly number[];
  from: number;
  maxCopies: number;
  /** Each chunk is a document by itself, as many labels in it as may be; otherwise all are one document. */
  documents: boolean;
  cacheBytes: number;
}

/** A message costs a thread more than most labels do, so a session opens with its first question. */
export type RenderRequest =
  /** Makes the first chunks, and looks at the other records; answered with `checked` and some of them, or `fault`. */
  | { kind: 'check'; session: number; opening?: Opening | undefined }
  /** Asks for the next chunk; answered with `chunk`, `end` or `fault`. */
  | { kind: 'next'; session: number; opening?: Opening | undefined }
  /** Not needed after `checked` with all chunks. */
  | { kind: 'close'; session: number };

export type RenderAnswer =
  /** No answer: a check goes on, label by label. A large one takes minutes. */
  | { kind: 'working'; session: number }
  /** `ended`: these are all chunks, and the session is over. */
  | { kind: 'checked'; session: number; chunks: Chunk[]; ended: boolean }
  | { kind: 'chunk'; session: number; chunk: Chunk }
  | { kind: 'end'; session: number }
  | { kind: 'fault'; session: number; fault: JobFault };
