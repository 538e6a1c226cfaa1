/**
 * A job as a row of chunks. A chunk is one record, printed some number of times by the printer's own copy
 * command; many copies are split, so that the window ahead of the printer stays small.
 */
export interface PlannedChunk {
  record: number;
  /** The chunk's first label, from 0 over the whole job. */
  first: number;
  count: number;
}

/** The chunks of the labels from `from` on. Label i is a copy of record floor(i / copies). */
export function* planChunks(
  job: { records: number; copies: number },
  from: number,
  maxCopies: number,
): Generator<PlannedChunk> {
  const total = job.records * job.copies;
  for (let first = from; first < total; ) {
    const record = Math.floor(first / job.copies);
    const count = Math.min(maxCopies, (record + 1) * job.copies - first);
    yield { record, first, count };
    first += count;
  }
}
