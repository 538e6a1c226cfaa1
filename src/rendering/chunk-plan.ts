/**
 * A job as a row of chunks. A chunk is one record that the printer's own copy command prints some number of times. Many copies
 * are split into several chunks, so that the window ahead of the printer stays small. If the copies differ, each is a chunk. A
 * printer that takes documents gets a row of documents, each with some chunks.
 */
export interface PlannedChunk {
  record: number;
  /** Which of the record's labels is the chunk's first, from 0. */
  copy: number;
  /** The chunk's first label, from 0 over the whole job. */
  first: number;
  count: number;
}

/** Some of a job's labels. Label i is a copy of record floor(i / copies). */
interface PlannedLabels {
  copies: number;
  /** The first label, from 0, and the one after the last. */
  from: number;
  upTo: number;
  /** The copies of a record differ, so no printer can make one from another. */
  copiesDiffer: boolean;
}

export function* planChunks(labels: PlannedLabels, maxCopies: number): Generator<PlannedChunk> {
  const { copies, from, upTo, copiesDiffer } = labels;
  const most = copiesDiffer ? 1 : maxCopies;
  for (let first = from; first < upTo; ) {
    const record = Math.floor(first / copies);
    const count = Math.min(most, (record + 1) * copies - first, upTo - first);
    yield { record, copy: first - record * copies, first, count };
    first += count;
  }
}

/**
 * The same chunks in documents. Each has whole pages, at least one, and otherwise at most `maxLabels` labels. The first label
 * begins a page, because what was printed before ended with a page. If a person releases a held job from a label in the middle
 * of a page, the rest begins on a new sheet too.
 */
export function* planDocuments(
  labels: PlannedLabels,
  maxLabels: number,
  perPage: number,
): Generator<PlannedChunk[]> {
  const size = Math.max(1, Math.floor(maxLabels / perPage)) * perPage;
  for (let from = labels.from; from < labels.upTo; from += size) {
    yield [...planChunks({ ...labels, from, upTo: Math.min(from + size, labels.upTo) }, size)];
  }
}
