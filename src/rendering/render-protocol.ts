/** What the agent's thread and its render threads say to each other; both ends are this repository. */
import type { JobFault } from '../contract/fault.ts';
import type { QueuedJob } from '../contract/queued-job.ts';

/** Bytes that print the labels from `first` on, `count` of them, at least one. */
export interface Chunk {
  bytes: Uint8Array<ArrayBuffer>;
  first: number;
  count: number;
}

/** Chunks asked for ahead of their use; and as many go with the answer to a check. */
export const AHEAD = 16;

export type RenderRequest =
  /** Prepares the labels of `job` from label `from` on, at most `maxCopies` in a chunk. */
  | {
      kind: 'open';
      session: number;
      job: QueuedJob;
      from: number;
      maxCopies: number;
      /** Each chunk is a document by itself, as many labels in it as may be; otherwise all together are. */
      documents: boolean;
      cacheBytes: number;
    }
  /** Makes the first chunks, and looks at the other records; answered with `checked` and some of them, or `fault`. */
  | { kind: 'check'; session: number }
  /** Asks for the next chunk; answered with `chunk`, `end` or `fault`. */
  | { kind: 'next'; session: number }
  | { kind: 'close'; session: number };

export type RenderAnswer =
  /** No answer: a check goes on, label by label. A large one takes minutes. */
  | { kind: 'working'; session: number }
  | { kind: 'checked'; session: number; chunks: Chunk[]; ended: boolean }
  | { kind: 'chunk'; session: number; chunk: Chunk }
  | { kind: 'end'; session: number }
  | { kind: 'fault'; session: number; fault: JobFault };
