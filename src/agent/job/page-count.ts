/**
 * Converts between pages, which a printer counts, and labels, which everything else counts. On sheets of
 * labels the two differ: where a page is out, or uncertain, so are all its labels. All pages of a job but the
 * last are full.
 */

/** Pages that `labels` labels take. */
export function pagesOf(labels: number, perPage: number): number {
  return Math.ceil(labels / perPage);
}

/** How many of `labels` labels the first `pages` of their pages hold. */
export function labelsOn(pages: number, labels: number, perPage: number): number {
  return Math.min(pages * perPage, labels);
}
