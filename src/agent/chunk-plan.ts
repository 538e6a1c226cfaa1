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
  records: number,
  copies: number,
  from: number,
  maxCopies: number,
): Generator<PlannedChunk> {
  const total = records * copies;
  for (let first = from; first < total; ) {
    const record = Math.floor(first / copies);
    const count = Math.min(maxCopies, (record + 1) * copies - first);
    yield { record, first, count };
    first += count;
  }
}
