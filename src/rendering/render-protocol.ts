/** What the agent's thread and its render threads say to each other; both ends are this repository. */
import type { JobFault } from '../contract/fault.ts';
import type { QueuedJob } from '../contract/queued-job.ts';

/** Bytes that print `count` labels, at least one, from the label `first` on. */
export interface Chunk {
  bytes: Uint8Array<ArrayBuffer>;
  first: number;
  count: number;
  /** The bytes may hold more than labels (settings, a stored format). A printer counts this as pending too. */
  besides?: boolean;
}

/** How many chunks are asked for ahead of their use. As many go with the answer to a check. */
export const AHEAD = 16;

/** The labels of `job` from label `from` on, at most `maxCopies` in a chunk. */
export interface Opening {
  job: Omit<QueuedJob, 'template'>;
  /** Left out: the thread has kept the template as `keptAs`. */
  template?: QueuedJob['template'] | undefined;
  /** The number under which the thread keeps the template; left out: it does not keep it. */
  keptAs?: number | undefined;
  /** Numbers of templates that the thread need not keep any more. */
  forget: readonly number[];
  from: number;
  maxCopies: number;
  /** Each chunk is a document by itself, with as many labels as it may have. Otherwise all chunks are one document. */
  documents: boolean;
  cacheBytes: number;
}

/** A message costs a thread more than most labels do. So the first question of a session also opens it. */
export type RenderRequest =
  /** Makes the first chunks, and looks at the other records. The answer is `checked` with some of the chunks, or `fault`. */
  | { kind: 'check'; session: number; opening?: Opening | undefined }
  /** Asks for the next chunk. The answer is `chunk`, `end` or `fault`. */
  | { kind: 'next'; session: number; opening?: Opening | undefined }
  /** Not needed after `checked` with all chunks. */
  | { kind: 'close'; session: number };

export type RenderAnswer =
  /** Not an answer yet: a check goes on, label by label. A large check takes minutes. */
  | { kind: 'working'; session: number }
  /** `ended`: these are all chunks, and the session is over. */
  | { kind: 'checked'; session: number; chunks: Chunk[]; ended: boolean }
  | { kind: 'chunk'; session: number; chunk: Chunk }
  | { kind: 'end'; session: number }
  | { kind: 'fault'; session: number; fault: JobFault };
