/**
 * By which of the ways to a printer it is driven. The best is, in this order:
 *
 *   1. one that works
 *   2. one that the operator wrote down
 *   3. one over which the printer itself answers; then one through a print server's queue, which at least says
 *      that the printer took the bytes; then one that says nothing
 *   4. one that is encrypted (ipps:), before the same unencrypted (ipp:)
 *   5. the one that it has
 *
 * A better one is taken when no job is under way. With a job under way another is only taken when the one it has
 * is gone, and only where the printer at its end is certain to know the job: never through a queue, which may
 * still hold labels of it, and never by documents instead of bytes, or in another language.
 */
import { takesDocuments } from '../../../drivers/transports/index.ts';
import { CONFIGURED } from './configured.ts';
import type { KnownWay } from './known-printers.ts';
import type { Candidate } from './provider.ts';
import type { Way } from './ways.ts';

/** By which way a printer that is new is driven; undefined: nobody has said enough of it yet. */
export function firstWay(ways: Iterable<Way>): string | undefined {
  return bestWay(
    [...ways].filter(({ ready }) => ready),
    undefined,
  )?.uri;
}

/**
 * By which way a printer is driven from now on; `waits`: there is a better one, once no job is under way.
 * @param had the way that it has
 * @param ways all that lead to it now
 */
export function nextWay(
  had: KnownWay & { candidate: Candidate },
  ways: ReadonlySet<Way>,
  busy: () => boolean,
): { uri: string; waits: boolean } {
  const { uri } = had;
  const now = [...ways].find((way) => way.uri === uri && way.candidate !== undefined);
  const best = bestWay(ways, uri);
  if (best?.candidate === undefined || best.uri === uri || (now !== undefined && !best.reached)) {
    return { uri, waits: false };
  }
  const from = { candidate: had.candidate, queue: (had.told.queue ?? had.said.queue) !== undefined };
  const goesOn = !now?.reached && sameJobs(from, { candidate: best.candidate, queue: best.queue });
  const waits = !goesOn && busy();
  return { uri: waits ? uri : best.uri, waits };
}

/** @param now the way that the printer has */
function bestWay(ways: Iterable<Way>, now: string | undefined): Way | undefined {
  const rank = (way: Way) => [way.reached ? 0 : 1, ...quality(way), way.uri === now ? 0 : 1];
  return [...ways]
    .filter(({ candidate }) => candidate !== undefined)
    .toSorted((a, b) => compare(rank(a), rank(b)))[0];
}

/** Whether a job that is under way by one of them may go on by the other. */
export function sameJobs(from: Driven, to: Driven): boolean {
  return drivenAlike(from.candidate, to.candidate) && !from.queue && !to.queue;
}

export interface Driven {
  candidate: Candidate;
  /** It is a print server's. */
  queue: boolean;
}

/** Whether the same device object can serve both. */
export function drivenAlike(a: Candidate, b: Candidate): boolean {
  const documents = takesDocuments(a.uri);
  return documents === takesDocuments(b.uri) && (documents || a.language === b.language);
}

function quality({ uri, listed, answers, queue }: Way): number[] {
  return [listed.has(CONFIGURED) ? 0 : 1, !answers ? 2 : queue ? 1 : 0, uri.startsWith('ipp:') ? 1 : 0];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [place, value] of a.entries()) {
    const other = b[place] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}
