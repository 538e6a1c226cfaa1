/**
 * What a printer counts are pages; what everybody else counts are labels. On sheets of labels the two differ: a page
 * that is out, or uncertain, is all of its labels. The pages of a job are full but for the last.
 */

/** Pages that `labels` labels take. */
export function pagesOf(labels: number, perPage: number): number {
  return Math.ceil(labels / perPage);
}

/** How many of `labels` labels the first `pages` of their pages hold. */
export function labelsOn(pages: number, labels: number, perPage: number): number {
  return Math.min(pages * perPage, labels);
}
