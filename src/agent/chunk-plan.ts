/**
 * A job as a row of chunks. A chunk is one record, printed some number of times by the printer's own copy
 * command; many copies are split, so that the window ahead of the printer stays small. Copies that count are a chunk each. For a printer that takes
 * documents, a row of documents with some chunks each.
 */
export interface PlannedChunk {
  record: number;
  /** Which of the record's labels is the chunk's first, from 0. */
  copy: number;
  /** The chunk's first label, from 0 over the whole job. */
  first: number;
  count: number;
}

export interface PlannedLabels {
  records: number;
  copies: number;
  /** The first label, from 0. */
  from: number;
  /** The labels of a record differ: no printer can make one from another. */
  copiesDiffer: boolean;
}

/** The chunks of a job's labels. Label i is a copy of record floor(i / copies). */
export function* planChunks(labels: PlannedLabels, maxCopies: number): Generator<PlannedChunk> {
  const { records, copies, from, copiesDiffer } = labels;
  const most = copiesDiffer ? 1 : maxCopies;
  const total = records * copies;
  for (let first = from; first < total; ) {
    const record = Math.floor(first / copies);
    const count = Math.min(most, (record + 1) * copies - first);
    yield { record, copy: first - record * copies, first, count };
    first += count;
  }
}

/** The same in documents of at most `maxLabels` labels. */
export function* planDocuments(labels: PlannedLabels, maxLabels: number): Generator<PlannedChunk[]> {
  let document: PlannedChunk[] = [];
  let size = 0;
  for (const chunk of planChunks(labels, maxLabels)) {
    if (document.length > 0 && size + chunk.count > maxLabels) {
      yield document;
      document = [];
      size = 0;
    }
    document.push(chunk);
    size += chunk.count;
  }
  if (document.length > 0) yield document;
}
