/**
 * A job as a row of chunks. A chunk is one record, printed some number of times by the printer's own copy
 * command; many copies are split, so that the window ahead of the printer stays small. For a printer that takes
 * documents, a row of documents with some chunks each.
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

/** The same in documents of at most `maxLabels` labels. */
export function* planDocuments(
  records: number,
  copies: number,
  from: number,
  maxLabels: number,
): Generator<PlannedChunk[]> {
  let document: PlannedChunk[] = [];
  let labels = 0;
  for (const chunk of planChunks(records, copies, from, maxLabels)) {
    if (document.length > 0 && labels + chunk.count > maxLabels) {
      yield document;
      document = [];
      labels = 0;
    }
    document.push(chunk);
    labels += chunk.count;
  }
  if (document.length > 0) yield document;
}
